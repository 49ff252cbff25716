/** Replaces `start` to `end` of a text; equal ends insert. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A text made by edits, which still knows where each character came from. */
export interface EditedText {
  readonly text: string;
  /** Offset in the text it was made of; for inserted text, of what follows it. */
  toOrigin(offset: number): number;
  /** Offset here of a character of the original; of what replaced it where it is gone. */
  fromOrigin(offset: number): number;
}

interface Piece {
  readonly at: number;
  readonly origin: number;
  readonly length: number;
  readonly inserted: boolean;
}

/**
 * Applies edits, given in any order; of those at one place the earlier in the list comes first. An edit that overlaps
 * one before it in the text is left out. `before` and `after` stand around the result.
 */
export function editText(original: string, edits: readonly Edit[], around: { readonly before: string; readonly after: string } = { before: "", after: "" }): EditedText {
  const sorted = edits.map((edit, index) => ({ edit, index })).sort((a, b) => a.edit.start - b.edit.start || a.index - b.index);
  const pieces: Piece[] = [];
  let text = "";
  let done = 0;
  const add = (part: string, origin: number, inserted: boolean): void => {
    if (part !== "") pieces.push({ at: text.length, origin, length: part.length, inserted });
    text += part;
  };
  add(around.before, 0, true);
  for (const { edit } of sorted) {
    if (edit.start < done) continue;
    add(original.slice(done, edit.start), done, false);
    add(edit.text, edit.start, true);
    done = edit.end;
  }
  add(original.slice(done), done, false);
  add(around.after, original.length, true);
  return {
    text,
    toOrigin(offset) {
      const piece = find(pieces, offset, (item) => item.at);
      if (piece === undefined) return 0;
      return piece.inserted ? piece.origin : Math.min(piece.origin + offset - piece.at, piece.origin + piece.length);
    },
    fromOrigin(offset) {
      const kept = pieces.filter(({ inserted }) => !inserted);
      const piece = find(kept, offset, (item) => item.origin);
      if (piece === undefined) return around.before.length;
      return piece.at + Math.min(offset - piece.origin, piece.length);
    },
  };
}

/** The last piece that starts at or before `offset`. */
function find(pieces: readonly Piece[], offset: number, key: (piece: Piece) => number): Piece | undefined {
  let low = 0;
  let high = pieces.length - 1;
  let found: Piece | undefined;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const piece = pieces[middle];
    if (piece !== undefined && key(piece) <= offset) {
      found = piece;
      low = middle + 1;
    } else high = middle - 1;
  }
  return found;
}

/** The same text as blanks, its line ends kept. */
export function blanksFor(text: string): string {
  return text.replace(/[^\r\n]/g, " ");
}

/** `replacement`, filled up with blanks to the length of `text` and with all its line ends. */
export function inPlaceOf(text: string, replacement: string): string {
  return replacement + blanksFor(text).slice(replacement.length).concat(/[\r\n]/.test(text.slice(0, replacement.length)) ? text.slice(0, replacement.length).replace(/[^\r\n]/g, "") : "");
}

/** Line and column from 1. */
export function placeAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let at = 0; at < offset && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 10 && code !== 13) continue;
    if (code === 13 && text.charCodeAt(at + 1) === 10) continue;
    line += 1;
    start = at + 1;
  }
  return { line, column: Math.max(1, offset - start + 1) };
}
