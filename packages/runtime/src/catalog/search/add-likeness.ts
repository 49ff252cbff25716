import { bestOf } from "./best-of.ts";
import type { Scope } from "./scope.ts";
import type { Scratch } from "./scratch.ts";

/** Tools that gain by what they mean. Of any two texts a model says that they are a little alike. */
const maxAlike = 100;
/** What the tool that is most alike gains, beside the 1 of the one that has the words best. */
const likenessWeight = 1;

/**
 * Joins what tools say with what they mean: both lists brought to a scale on which their best counts 1, and added up. A sum and no
 * count of places: how far ahead the best one is says more than that it is ahead, and a list by words that finds nothing
 * must not outvote one that does.
 *
 * @param scores by words, changed in place; 0 outside the scope
 * @param likeness of each tool to the query, any scale on which more is more alike; read inside the scope only
 */
export function addLikeness(scores: Float64Array, likeness: Float32Array, { scope, scratch }: { readonly scope: Scope; readonly scratch: Scratch }): void {
  const above = aboveMean(likeness, { scope, scratch });
  let mostByWords = 0;
  for (const score of scores) if (score > mostByWords) mostByWords = score;
  if (mostByWords > 0) for (let tool = 0; tool < scores.length; tool += 1) scores[tool] = (scores[tool] ?? 0) / mostByWords;
  const alike = bestOf(above, maxAlike);
  const most = above[alike[0] ?? 0] ?? 1;
  for (const tool of alike) scores[tool] = (scores[tool] ?? 0) + (likenessWeight * (above[tool] ?? 0)) / most;
}

/** By how much each tool inside is more alike than usual; 0 where it is not. What is usual differs from model to model. */
function aboveMean(likeness: Float32Array, { scope, scratch }: { readonly scope: Scope; readonly scratch: Scratch }): Float64Array {
  let sum = 0;
  for (let tool = 0; tool < likeness.length; tool += 1) if (scope.has(tool)) sum += likeness[tool] ?? 0;
  const mean = scope.size === 0 ? 0 : sum / scope.size;
  const above = scratch.row();
  for (let tool = 0; tool < likeness.length; tool += 1) if (scope.has(tool)) above[tool] = Math.max(0, (likeness[tool] ?? 0) - mean);
  // One tool is as alike as the mean, and may be what is meant.
  if (scope.size === 1) for (let tool = 0; tool < likeness.length; tool += 1) if (scope.has(tool)) above[tool] = Math.max(0, likeness[tool] ?? 0);
  return above;
}
