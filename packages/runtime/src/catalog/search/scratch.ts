/**
 * Rows of numbers, one for each tool, that one search after the other works in. Made anew for each, megabytes of them would
 * keep the garbage collector of a large catalog busier than the search.
 */
export interface Scratch {
  /** All 0, until `clear`. */
  row(): Float64Array;
  /** Takes all rows back. */
  clear(): void;
}

export function createScratch(size: number): Scratch {
  const rows: Float64Array[] = [];
  let used = 0;
  return {
    row() {
      const row = rows[used] ?? new Float64Array(size);
      rows[used] = row;
      used += 1;
      return row.fill(0);
    },
    clear() {
      used = 0;
    },
  };
}
