import { Parser } from "commonmark";
import type { Node } from "commonmark";

/** One fenced code block of a Markdown text. */
export interface CodeFence {
  /** What stands behind the opening marks, as written. */
  readonly info: string;
  /** The first word of `info` in lower case, which names the language: `ts title="x"`, `{.typescript}`. */
  readonly word: string | undefined;
  /** The lines between the marks, joined by line feeds, without the indentation of their fence, list or quote. */
  readonly code: string;
  /** How many columns were taken off the start of each line of `code`. */
  readonly cutColumns: readonly number[];
  /** Line of the opening marks, from 1. */
  readonly startLine: number;
  /** The last line that belongs to the block. */
  readonly endLine: number;
  /** True when the block was ended by the end of the text, or of the list or quote it is in: it was probably cut off. */
  readonly unclosed: boolean;
}

/** The lines of a text, however they end. */
export function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\n|\r/);
}

/**
 * All fenced code blocks of a text, in order. Blocks made by indentation are prose to a model and left out.
 *
 * Errors: none. Cost: linear; nothing is interpreted but block structure.
 */
export function findFences(text: string, lines: readonly string[] = linesOf(text)): readonly CodeFence[] {
  const parser = new Parser();
  // Only blocks matter; what stands in paragraphs is not looked at.
  (parser as unknown as { inlineParser: { parse(node: Node): void } }).inlineParser.parse = () => undefined;
  const walker = parser.parse(text).walker();
  const fences: CodeFence[] = [];
  for (let event = walker.next(); event !== null; event = walker.next()) {
    const { node } = event;
    if (node.type === "code_block" && (node as unknown as { _isFenced: boolean })._isFenced) fences.push(fenceOf(node, lines));
  }
  return fences;
}

/** Lines are taken from the text itself, not from the Markdown reader, which changes NUL characters and tabs. */
function fenceOf(node: Node, lines: readonly string[]): CodeFence {
  const [[startLine], [endLine]] = node.sourcepos;
  const literal = node.literal ?? "";
  const shown = literal === "" ? [] : literal.replace(/\n$/, "").split("\n");
  const info = node.info ?? "";
  const taken = shown.map((line, index) => takeLine(line, lines[startLine + index]));
  return {
    info,
    word: /[A-Za-z][A-Za-z0-9+#]*/.exec(info)?.[0].toLowerCase(),
    code: taken.map(({ text }) => text).join("\n"),
    cutColumns: taken.map(({ cut }) => cut),
    startLine,
    endLine,
    unclosed: endLine - startLine - 1 !== shown.length,
  };
}

function takeLine(shown: string, raw = shown): { readonly text: string; readonly cut: number } {
  const cut = Math.max(0, raw.length - shown.length);
  const rest = raw.slice(cut);
  return { text: raw.length >= shown.length && rest.replaceAll("\0", "\uFFFD") === shown ? rest : shown, cut };
}
