import type { Diagnostic, KnownLanguage, ProgramLanguage } from "@callgate/contract";
import { findFences, linesOf } from "./code-fences.ts";
import type { CodeFence } from "./code-fences.ts";
import { languageNames, namesOf } from "./language-names.ts";

/** A program taken out of what a model wrote around it, and where it stood there. */
export interface ExtractedProgram {
  readonly kind: "program";
  readonly text: string;
  /** Line of the model's text, from 1, on which the program's first line stands. */
  readonly firstLine: number;
  /** How many columns were taken off the start of each line of `text`: the indentation of its fence, list or quote. */
  readonly cutColumns: readonly number[];
  /** Line of the opening fence; undefined when there was none. */
  readonly fenceLine: number | undefined;
  /** True when a fence was opened and never closed: the answer was probably cut off. */
  readonly unclosed: boolean;
}

export type Extraction = ExtractedProgram | { readonly kind: "refused"; readonly diagnostic: Diagnostic };

const scripts = [...languageNames.typescript, ...languageNames.javascript, ...languageNames.node, "tsx", "jsx", "deno"];

/** Words of an info string that name a language; one that is not here is named by its own name. None at all fits every language. */
const infoWords: Readonly<Record<KnownLanguage, readonly string[]>> = {
  typescript: scripts,
  javascript: scripts,
  node: [...languageNames.node, ...scripts],
  python: languageNames.python,
  shell: [...languageNames.shell, "zsh", "console"],
};

const scriptLine = /^\s*(?:import\b.*\bfrom\b|(?:const|let|var|await|return|export|function|async|class|if|for|while|try|throw)\b.*[;{(,`]\s*$|.*[;{]\s*$)/;

/** A line that only a program has. Markdown around a fence is prose: it does not end in `;` or `{`. */
const codeLine: Readonly<Record<KnownLanguage, RegExp>> = {
  typescript: scriptLine,
  javascript: scriptLine,
  node: scriptLine,
  python: /^\s*(?:(?:from\s+\S+\s+)?import\s+\S+$|(?:async\s+)?def\s|class\s.*:\s*$|\w+\s*=\s*\S|(?:if|for|while|with|try)\b.*:\s*$|return\b)/,
  shell: /^\s*(?:#!|\w+=\S)/,
};

function isKnown(language: ProgramLanguage): language is KnownLanguage {
  return Object.hasOwn(infoWords, language);
}

function infoWordsOf(language: ProgramLanguage): readonly string[] {
  return isKnown(language) ? infoWords[language] : namesOf(language);
}

/** Blanks only, no line breaks: those would make the search quadratic in empty lines. */
const fenceLine = /^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,})/m;

/**
 * Finds the program in a model's text.
 *
 * - Without a fence the whole text is the program; a byte order mark is cut off.
 * - With one fence for the language (or without a language), the program is what stands in it; prose around it and
 *   fences of other languages are left out.
 * - With several, nobody can tell which one is meant: refused, naming their lines.
 *
 * Errors: none. Cost: linear; nothing is interpreted but block structure. Call it on text whose size is already bounded.
 */
export function extractProgram(text: string, language: ProgramLanguage): Extraction {
  if (!fenceLine.test(text)) return wholeText(text);
  const lines = linesOf(text);
  const fences = findFences(text, lines);
  if (fences.length === 0 || (!startsWithFence(lines) && hasCodeOutside(lines, fences, codeLine[isKnown(language) ? language : "shell"]))) return wholeText(text);
  const named = fences.filter(({ word }) => word !== undefined && infoWordsOf(language).includes(word));
  const fitting = named.length > 0 ? named : fences.filter(({ word }) => word === undefined);
  const [only, ...others] = fitting.filter(({ code }) => code.trim() !== "");
  if (only === undefined) return refuse(fences[0]?.startLine ?? 1, "NO_PROGRAM", `No code block is marked as ${language}; put the program into one block that starts with \`\`\`${infoWordsOf(language)[0] ?? ""}`);
  if (others.length > 0) {
    const where = [only, ...others].map(({ startLine }) => startLine).join(", ");
    return refuse(others[0]?.startLine ?? 1, "SEVERAL_PROGRAMS", `The text holds ${others.length + 1} code blocks that could be the program (lines ${where}); send exactly one`);
  }
  return { kind: "program", text: only.code, firstLine: only.startLine + 1, cutColumns: only.cutColumns, fenceLine: only.startLine, unclosed: only.unclosed };
}

function wholeText(text: string): ExtractedProgram {
  const bom = text.startsWith("\uFEFF");
  return { kind: "program", text: bom ? text.slice(1) : text, firstLine: 1, cutColumns: bom ? [1] : [], fenceLine: undefined, unclosed: false };
}

function refuse(line: number, code: string, message: string): Extraction {
  return { kind: "refused", diagnostic: { severity: "error", code, message, line, column: 1 } };
}

function startsWithFence(lines: readonly string[]): boolean {
  const first = lines.find((line) => line.trim() !== "") ?? "";
  return /^[\s\uFEFF]*(?:`{3,}|~{3,})/.test(first);
}

function hasCodeOutside(lines: readonly string[], fences: readonly CodeFence[], code: RegExp): boolean {
  const inside = new Set<number>();
  for (const { startLine, endLine } of fences) for (let line = startLine; line <= endLine; line++) inside.add(line);
  return lines.some((line, index) => !inside.has(index + 1) && line.length < 2_000 && code.test(line));
}
