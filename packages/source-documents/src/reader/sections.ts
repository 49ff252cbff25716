import { Parser } from "commonmark";
import type { Node } from "commonmark";
import type { DocumentText, Section } from "./document-text.ts";

/** A heading among lines. */
export interface Heading {
  /** From 0. */
  readonly line: number;
  /** 1 to 6. */
  readonly level: number;
  readonly words: string;
}

/** Longest heading that is kept. */
const maxHeadingChars = 200;

/** Cuts a text at its headings. The title is the first heading of the highest level there is. */
export function sectionsOf(lines: readonly string[], headings: readonly Heading[]): DocumentText {
  const sections: Section[] = [];
  const trail: Heading[] = [];
  const add = (from: number, to: number | undefined): void => {
    const text = lines.slice(from, to).join("\n");
    const heading = trail.map(({ words }) => words).join(" > ");
    if (text.trim() !== "") sections.push({ ...(heading === "" ? {} : { heading }), text });
  };
  let from = 0;
  for (const heading of headings) {
    add(from, heading.line);
    while ((trail.at(-1)?.level ?? 0) >= heading.level) trail.pop();
    trail.push(heading);
    from = heading.line;
  }
  add(from, undefined);
  const top = Math.min(...headings.map(({ level }) => level));
  const title = headings.find(({ level }) => level === top)?.words;
  return { ...(title === undefined ? {} : { title }), sections };
}

/** Markdown by CommonMark: a `#` in a code block is no heading. */
export function markdownText(text: string): DocumentText {
  const lines = text.split(/\r\n|\n|\r/);
  const parser = new Parser();
  // Only blocks matter; what stands in paragraphs is not looked at.
  (parser as unknown as { inlineParser: { parse(node: Node): void } }).inlineParser.parse = () => undefined;
  const walker = parser.parse(text).walker();
  const headings: Heading[] = [];
  for (let event = walker.next(); event !== null; event = walker.next()) {
    const { node, entering } = event;
    if (!entering || node.type !== "heading") continue;
    const line = node.sourcepos[0][0] - 1;
    headings.push({ line, level: node.level, words: headingWords(lines[line] ?? "") });
  }
  return sectionsOf(lines, headings);
}

/** Text whose headings are lines with `#` before them, as `htmlText` writes them. */
export function markedText(text: string): DocumentText {
  const lines = text.split("\n");
  const headings = lines.flatMap((written, line): readonly Heading[] => {
    const marks = /^#{1,6}(?= \S)/.exec(written)?.[0];
    return marks === undefined ? [] : [{ line, level: marks.length, words: headingWords(written) }];
  });
  return sectionsOf(lines, headings);
}

function headingWords(line: string): string {
  return line.replace(/^[\s>]*#{0,6}\s*/, "").replace(/\s+#+\s*$/, "").replaceAll(/[*_`]/g, "").trim().slice(0, maxHeadingChars);
}
