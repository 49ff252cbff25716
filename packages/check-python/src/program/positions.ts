/** Lines and columns of a text, both from 1, as Python counts lines. */
export interface Positions {
  at(offset: number): { readonly line: number; readonly column: number };
  /** From a line and a character that count from 0. */
  offsetOf(line: number, character: number): number;
  /** The line, trimmed and bounded. */
  excerpt(line: number): string;
}

const maxExcerptChars = 160;

export function positionsOf(text: string): Positions {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + end.length);
  return {
    at(offset) {
      let [low, high] = [0, starts.length - 1];
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if ((starts[middle] ?? 0) <= offset) low = middle;
        else high = middle - 1;
      }
      return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
    },
    offsetOf: (line, character) => Math.min(text.length, (starts[line] ?? text.length) + character),
    excerpt(line) {
      const whole = text.slice(starts[line - 1] ?? text.length, starts[line] ?? text.length).trim();
      return whole.length > maxExcerptChars ? `${whole.slice(0, maxExcerptChars - 1)}…` : whole;
    },
  };
}
