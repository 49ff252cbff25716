import type { Section } from "./document-text.ts";

/** A piece of a document that is found as one. Those of a document follow each other without gaps. */
export interface Passage {
  readonly heading: string | undefined;
  /** Characters (UTF-16) before it in the document. */
  readonly start: number;
  readonly body: string;
}

export interface Passages {
  readonly passages: readonly Passage[];
  /** There was more text than was wanted. */
  readonly isCut: boolean;
}

/** A passage is shorter, unless a single line has no place to cut it. */
const passageChars = 1_200;
/** Where to cut, the best first. */
const seams = ["\n\n", "\n", ". ", " "];

/** Cuts the sections of a document into passages, at the end of paragraphs, lines, sentences and words, in this order. */
export function splitPassages(sections: readonly Section[], maxChars: number): Passages {
  const passages: Passage[] = [];
  let start = 0;
  for (const { heading, text } of sections) {
    // Well-formed, so that every byte of it can be kept and sent.
    const whole = `${text.toWellFormed().replaceAll("\0", "").trimEnd()}\n\n`;
    for (let at = 0; at < whole.length; ) {
      if (start >= maxChars) return { passages, isCut: true };
      const end = Math.min(cutAfter(whole, at), at + maxChars - start);
      passages.push({ heading, start, body: whole.slice(at, end) });
      start += end - at;
      at = end;
    }
  }
  return { passages, isCut: false };
}

function cutAfter(text: string, at: number): number {
  const last = at + passageChars;
  if (last >= text.length) return text.length;
  const window = text.slice(at, last);
  for (const seam of seams) {
    const found = window.lastIndexOf(seam);
    if (found > passageChars / 3) return at + found + seam.length;
  }
  return splitsPair(text, last) ? last - 1 : last;
}

/** Whether a cut there would part the two halves of one character. */
export function splitsPair(text: string, at: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1));
}
