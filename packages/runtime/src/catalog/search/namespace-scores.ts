/** Tools of a namespace that speak for it. */
const speakers = 5;

/** Which tool is of which namespace, both by their numbers. */
export interface NamespaceNumbers {
  readonly count: number;
  readonly of: Uint32Array;
}

export function numberNamespaces(tools: readonly { readonly namespace: string }[]): NamespaceNumbers {
  const numbers = new Map<string, number>();
  const of = Uint32Array.from(tools, ({ namespace }) => {
    const number = numbers.get(namespace) ?? numbers.size;
    numbers.set(namespace, number);
    return number;
  });
  return { count: numbers.size, of };
}

/** The mean score of the five best tools of each namespace; a namespace of fewer is not favoured for that. */
export function namespaceScores(scores: Float64Array, { count, of }: NamespaceNumbers): Float64Array {
  const best = new Float64Array(count * speakers);
  for (let tool = 0; tool < scores.length; tool += 1) {
    const score = scores[tool] ?? 0;
    if (score === 0) continue;
    const first = (of[tool] ?? 0) * speakers;
    // Kept in order, best first: insert where it belongs, drop the last.
    let place = first + speakers;
    while (place > first && score > (best[place - 1] ?? 0)) place -= 1;
    if (place === first + speakers) continue;
    best.copyWithin(place + 1, place, first + speakers - 1);
    best[place] = score;
  }
  return Float64Array.from({ length: count }, (_, namespace) => {
    let sum = 0;
    for (let place = 0; place < speakers; place += 1) sum += best[namespace * speakers + place] ?? 0;
    return sum / speakers;
  });
}
