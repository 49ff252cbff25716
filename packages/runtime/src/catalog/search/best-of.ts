/** The tools with the highest scores above 0, at most `limit`; of equal ones the first by name. Sorting all would cost most of a search. */
export function bestOf(scores: Float64Array, limit: number): readonly number[] {
  const best: number[] = [];
  if (limit <= 0) return best;
  for (let tool = 0; tool < scores.length; tool += 1) {
    const score = scores[tool] ?? 0;
    if (score === 0 || (best.length === limit && score <= (scores[best.at(-1) ?? 0] ?? 0))) continue;
    let place = best.length;
    while (place > 0 && score > (scores[best[place - 1] ?? 0] ?? 0)) place -= 1;
    best.splice(place, 0, tool);
    if (best.length > limit) best.pop();
  }
  return best;
}
