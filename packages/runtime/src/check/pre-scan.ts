import type { Diagnostic, ProgramLanguage } from "@callgate/contract";

/** What a text may hold before a parser sees it. */
export interface PreScanBounds {
  /** UTF-8 bytes. */
  readonly sourceBytes: number;
  /** Open brackets and template substitutions at one place. */
  readonly depth: number;
  /**
   * Words and operators in a row within one pair of brackets, without `;`, `,` or a line that starts a statement: unary,
   * member, ternary and generic chains. Compilers take quadratic time for some of them.
   */
  readonly chain: number;
  /** UTF-16 units of one line. */
  readonly lineChars: number;
}

/**
 * From the measurements in docs/decisions: pure JavaScript parsers end between 300 and 700 open brackets on a default
 * stack, and the checker's worker has sixteen times that.
 */
export const defaultPreScanBounds: Omit<PreScanBounds, "sourceBytes"> = { depth: 250, chain: 2_000, lineChars: 128 * 1024 };

/**
 * Refuses what no parser should see: too many bytes, too deep, too long a chain or line, NUL or bidirectional control
 * characters (they make a reviewer read another program than the one that runs).
 *
 * A linear walk that knows strings, comments, templates and, by the character before them, regular expressions. It is
 * the first wall, not the only one: a text that fools it meets a parser in a worker that survives an overflow.
 *
 * @returns the first thing that is wrong, with line and column of `text`; undefined when nothing is
 */
export function preScan(text: string, language: ProgramLanguage, bounds: PreScanBounds): Diagnostic | undefined {
  const bytes = text.length > bounds.sourceBytes ? text.length : Buffer.byteLength(text);
  if (bytes > bounds.sourceBytes) {
    return { severity: "error", code: "SOURCE_TOO_LARGE", message: `The program has ${bytes} bytes; at most ${bounds.sourceBytes} are accepted (limit sourceBytes). Read data through a tool instead of writing it into the program`, line: 1, column: 1 };
  }
  const bad = findBadCharacter(text) ?? findLongLine(text, bounds.lineChars) ?? findDeep(text, language, bounds);
  return bad === undefined ? undefined : { severity: "error", code: bad.code, message: bad.message, ...placeOf(text, bad.offset) };
}

interface Found {
  readonly code: string;
  readonly message: string;
  readonly offset: number;
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) {
    if (index >= offset) break;
    line += 1;
    start = index + end.length;
  }
  return { line, column: offset - start + 1 };
}

/** NUL, U+202A to U+202E and U+2066 to U+2069; outside of text, spaces that compilers and engines read differently. */
const badCharacter = /[\0\u202A-\u202E\u2066-\u2069]/;

function findBadCharacter(text: string): Found | undefined {
  const index = text.search(badCharacter);
  if (index < 0) return undefined;
  const name = `U+${text.charCodeAt(index).toString(16).toUpperCase().padStart(4, "0")}`;
  const what = text[index] === "\0" ? "a NUL character" : `the bidirectional control character ${name}`;
  return { code: "FORBIDDEN_CHARACTER", message: `The program holds ${what}, which hides what it does; write it as an escape inside a string`, offset: index };
}

function findLongLine(text: string, lineChars: number): Found | undefined {
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && text.charCodeAt(at) !== 10 && text.charCodeAt(at) !== 13) continue;
    if (at - start > lineChars) return { code: "LINE_TOO_LONG", message: `A line has ${at - start} characters; at most ${lineChars} are accepted`, offset: start };
    start = at + 1;
  }
  return undefined;
}

/** How the languages write what is not code. */
interface Lexicon {
  readonly lineComment: string;
  readonly blockComment: boolean;
  readonly templates: boolean;
  readonly regularExpressions: boolean;
  readonly tripleQuotes: boolean;
}

const cLike: Lexicon = { lineComment: "//", blockComment: true, templates: true, regularExpressions: true, tripleQuotes: false };
const hashed: Lexicon = { lineComment: "#", blockComment: false, templates: false, regularExpressions: false, tripleQuotes: true };

function findDeep(text: string, language: ProgramLanguage, bounds: PreScanBounds): Found | undefined {
  const lexicon = language === "typescript" || language === "javascript" || language === "node" ? cLike : hashed;
  /** What closes each open bracket; for template substitutions the marker "`". */
  const open: string[] = [];
  const chains: number[] = [0];
  let before = "";
  const reading: Reading = { lexicon, noRegularExpressionBefore: 0 };
  for (let at = 0; at < text.length; ) {
    const end = skipText(text, at, { before, reading });
    if (end > at) {
      const substitution = text.startsWith("${", end - 2) && text[at] === "`";
      if (text[at] !== "/" || text[at + 1] !== "/") before = "a";
      if (substitution) push(open, chains, "`");
      at = end;
    } else at = step(text, at, { open, chains, setBefore: (word) => (before = word), lineEndsStatement: lexicon === hashed });
    // Whatever closed a substitution, the rest of its template is text again.
    if (lexicon.templates && open.at(-1) === "`" && text[at] === "}") {
      open.pop();
      chains.pop();
      const rest = skipTemplate(text, at + 1);
      if (text.startsWith("${", rest - 2)) push(open, chains, "`");
      before = "a";
      at = rest;
    }
    if (open.length > bounds.depth) return { code: "TOO_DEEP", message: `The program nests brackets deeper than ${bounds.depth}; split it into statements or functions`, offset: at - 1 };
    if ((chains.at(-1) ?? 0) > bounds.chain) return { code: "TOO_DEEP", message: `An expression chains more than ${bounds.chain} words and operators; split it into statements`, offset: Math.max(0, at - 1) };
  }
  return undefined;
}

function push(open: string[], chains: number[], closer: string): void {
  open.push(closer);
  chains.push(0);
}

interface Walk {
  readonly open: string[];
  readonly chains: number[];
  readonly setBefore: (word: string) => void;
  readonly lineEndsStatement: boolean;
}

/** One token of code: a word, a bracket or an operator character. Returns where the next one starts. */
function step(text: string, at: number, { open, chains, setBefore, lineEndsStatement }: Walk): number {
  const character = text[at] ?? "";
  const level = chains.length - 1;
  if (/\s/.test(character)) {
    if (lineEndsStatement && character === "\n" && level === 0) chains[0] = 0;
    return at + 1;
  }
  if (/[\w$\u0080-\uFFFF]/.test(character)) {
    let end = at + 1;
    while (end < text.length && /[\w$\u0080-\uFFFF]/.test(text[end] ?? "")) end += 1;
    const word = text.slice(at, Math.min(end, at + 12));
    setBefore(word);
    chains[level] = startsStatement(text, at, word) ? 1 : (chains[level] ?? 0) + 1;
    return end;
  }
  setBefore(character);
  if (character === "(" || character === "[" || character === "{") push(open, chains, character);
  else if (character === ")" || character === "]" || character === "}") {
    if (open.length > 0 && open.at(-1) !== "`") {
      open.pop();
      chains.pop();
    }
  } else if (character === ";" || character === ",") chains[level] = 0;
  else chains[level] = (chains[level] ?? 0) + 1;
  return at + 1;
}

interface Reading {
  readonly lexicon: Lexicon;
  /** A line on which one was not closed is not searched again: that would take quadratic time. */
  noRegularExpressionBefore: number;
}

/** Words no expression goes on with, and no statement without braces is nested by. */
const statementWords: ReadonlySet<string> = new Set(["const", "let", "var", "return", "throw", "export", "import", "try"]);

/** Programs without semicolons are no chains. */
function startsStatement(text: string, at: number, word: string): boolean {
  if (!statementWords.has(word)) return false;
  let before = at - 1;
  while (before >= 0 && (text[before] === " " || text[before] === "\t")) before -= 1;
  return before < 0 || text[before] === "\n" || text[before] === "\r";
}

/** The end of the comment, string, template head or regular expression that starts at `at`; `at` itself where none does. */
function skipText(text: string, at: number, { before, reading }: { readonly before: string; readonly reading: Reading }): number {
  const character = text[at];
  const { lexicon } = reading;
  if (text.startsWith(lexicon.lineComment, at)) return endOfLine(text, at);
  if (lexicon.blockComment && text.startsWith("/*", at)) {
    const end = text.indexOf("*/", at + 2);
    return end < 0 ? text.length : end + 2;
  }
  if (character === '"' || character === "'") {
    const triple = character.repeat(3);
    if (!lexicon.tripleQuotes || !text.startsWith(triple, at)) return endOfString(text, at, character);
    const end = text.indexOf(triple, at + 3);
    return end < 0 ? text.length : end + 3;
  }
  if (lexicon.templates && character === "`") return skipTemplate(text, at + 1);
  if (!lexicon.regularExpressions || character !== "/" || at < reading.noRegularExpressionBefore || !startsExpression(before)) return at;
  const end = endOfRegularExpression(text, at);
  if (end === at) reading.noRegularExpressionBefore = endOfLine(text, at);
  return end;
}

function endOfLine(text: string, at: number): number {
  let end = at;
  while (end < text.length && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return end;
}

/** A string that is not closed on its line is not one. */
function endOfString(text: string, at: number, quote: string): number {
  for (let end = at + 1; end < text.length; end++) {
    const character = text[end];
    if (character === "\\") end += 1;
    else if (character === quote) return end + 1;
    else if (character === "\n" || character === "\r") return end;
  }
  return text.length;
}

/** Up to and with the closing backtick or the next `${`. */
function skipTemplate(text: string, at: number): number {
  for (let end = at; end < text.length; end++) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "`") return end + 1;
    else if (text[end] === "$" && text[end + 1] === "{") return end + 2;
  }
  return text.length;
}

const wordsBeforeExpression: ReadonlySet<string> = new Set(["return", "typeof", "case", "in", "of", "do", "else", "void", "delete", "await", "yield", "throw", "new"]);

function startsExpression(before: string): boolean {
  return before === "" || wordsBeforeExpression.has(before) || /^[(,=:[!&|?{};+\-*%<>~^]$/.test(before);
}

function endOfRegularExpression(text: string, at: number): number {
  let inClass = false;
  for (let end = at + 1; end < text.length; end++) {
    const character = text[end];
    if (character === "\\") end += 1;
    else if (character === "\n" || character === "\r") return at;
    else if (character === "[") inClass = true;
    else if (character === "]") inClass = false;
    else if (character === "/" && !inClass) return end + 1;
  }
  return at;
}
