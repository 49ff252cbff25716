import { formatPatch, OMIT_HEADERS, structuredPatch } from "diff";

/** What became of a text, by lines. */
export interface TextDiff {
  /** Unified hunks without file names; empty where no line differs. */
  readonly text: string;
  readonly addedLines: number;
  readonly removedLines: number;
}

/** Texts with more changed lines than this are not versions of one another, and the time to compare them grows with the square. */
const maxEditedLines = 500;

/**
 * The difference of two texts by lines, with three lines around each change. Whether the last line ends is no difference.
 * Undefined: more than 500 lines differ. Cost: O(lines + edits²) within that bound.
 */
export function textDiff(before: string, after: string): TextDiff | undefined {
  const patch = structuredPatch("", "", ended(before), ended(after), undefined, undefined, { context: 3, stripTrailingCr: true, maxEditLength: maxEditedLines });
  if (patch === undefined) return undefined;
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return { text: lines.length === 0 ? "" : formatPatch(patch, OMIT_HEADERS), addedLines: count("+"), removedLines: count("-") };
}

function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
