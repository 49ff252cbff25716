import type { NamespaceNumbers } from "./namespace-scores.ts";
import { namespaceScores } from "./namespace-scores.ts";
import type { ReadQuery } from "./read-query.ts";
import { rarity, saturation, scoreWords } from "./score-words.ts";
import type { Scored } from "./score-words.ts";
import type { TermCounts } from "./tool-terms.ts";

/** A search and what it found first. */
export interface FoundFirst extends Scored {
  readonly namespaces: NamespaceNumbers;
  readonly query: ReadQuery;
  /** By the query as a whole. */
  readonly scores: Float64Array;
  /** Best first. */
  readonly best: readonly number[];
  readonly termsOf: (tool: number) => TermCounts;
}

/** The best of a list count as much as its namespaces; a step of the task, and what the best say, half as much. */
const weights = { step: 0.5, alike: 0.5 };
/** Tools whose words stand for what was found. */
const spokesmen = 5;
const maxSharedWords = 50;

/**
 * What a task of several steps may need beside the tools that fit its words best: what fits one step, what lives in the same
 * namespaces (open before read, search before get), and what speaks the language of the best (Rocchio's feedback, without
 * anybody's judgement). Zero: nothing speaks for it. Only their order means anything.
 */
export function scoreCompanions(found: FoundFirst): Float64Array {
  const total = found.scratch.row();
  addList(total, found.scores, { found, weight: 1 });
  for (const step of found.query.steps) addList(total, scoreWords(step, { namesSomething: false }, found), { found, weight: weights.step });
  const alike = scoreAlike(found);
  const most = max(alike);
  for (let tool = 0; tool < total.length; tool += 1) total[tool] = (total[tool] ?? 0) + (weights.alike * (alike[tool] ?? 0)) / most;
  return total;
}

function addList(total: Float64Array, scores: Float64Array, { found, weight }: { readonly found: FoundFirst; readonly weight: number }): void {
  const { namespaces, scope } = found;
  const ofNamespaces = namespaceScores(scores, namespaces);
  const [most, mostOfNamespaces] = [max(scores), max(ofNamespaces)];
  // One namespace says nothing about which of its tools.
  const share = scope.namespaceCount > 1 ? weight / mostOfNamespaces : 0;
  for (let tool = 0; tool < scores.length; tool += 1) {
    if (!scope.has(tool)) continue;
    total[tool] = (total[tool] ?? 0) + (weight * (scores[tool] ?? 0)) / most + share * (ofNamespaces[namespaces.of[tool] ?? 0] ?? 0);
  }
}

function scoreAlike({ best, scores, scope, scratch, vocabulary, termsOf }: FoundFirst): Float64Array {
  const alike = scratch.row();
  for (const [word, weight] of sharedWords({ best: best.slice(0, spokesmen), scores, scope, vocabulary, termsOf })) {
    const { documents, counts } = scope.entries([word]);
    for (let index = 0; index < documents.length; index += 1) {
      const tool = documents[index] ?? 0;
      alike[tool] = (alike[tool] ?? 0) + weight * saturation(counts[index] ?? 0, scope.relativeLengths[tool] ?? 0);
    }
  }
  return alike;
}

/** The words that say most about the best tools, with how much. What half of all tools have says nothing. */
function sharedWords({ best, scores, scope, vocabulary, termsOf }: Pick<FoundFirst, "best" | "scores" | "scope" | "vocabulary" | "termsOf">): readonly (readonly [number, number])[] {
  const sum = best.reduce((total, tool) => total + (scores[tool] ?? 0), 0) || 1;
  const shared = new Map<number, number>();
  for (const tool of best) {
    for (const [word, count] of termsOf(tool)) {
      const id = vocabulary.idOf(word);
      if (id === undefined || scope.frequency(id) > scope.size / 2) continue;
      const part = ((scores[tool] ?? 0) / sum) * saturation(count, scope.relativeLengths[tool] ?? 0) * rarity(scope.frequency(id), scope);
      shared.set(id, (shared.get(id) ?? 0) + part);
    }
  }
  return [...shared].sort(([a, ofA], [b, ofB]) => ofB - ofA || a - b).slice(0, maxSharedWords);
}

/** Of numbers from 0 on; 1 where all are 0, to divide by. */
function max(values: Float64Array): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most === 0 ? 1 : most;
}
