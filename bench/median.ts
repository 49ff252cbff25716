// One median for all benchmarks, and what they take it of.

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The median of how long some work takes, in ms. @param restMs between two of them */
export async function medianMs(times: number, work: () => unknown, restMs = 0): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < times; round++) {
    const start = performance.now();
    await work();
    took.push(performance.now() - start);
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
  }
  return median(took);
}
