import { RE2JS } from "re2js";

export interface GrepMatch {
  /** Of the line or item, from 0. */
  readonly index: number;
  readonly line: string;
}

export type Grepped = { readonly kind: "matches"; readonly matches: readonly GrepMatch[]; readonly total: number } | { readonly kind: "invalid"; readonly message: string };

/** A pattern that needs longer is not worth its time here. */
const maxPatternChars = 1_000;
/** About 1 s of the host's time. */
const maxChars = 16_000_000;

/**
 * The lines that match a regular expression. RE2's syntax and its promise: time linear in the text, whatever the pattern
 * (no back-references, no look-around). Case counts unless the pattern begins with `(?i)`.
 *
 * @param keep matches that are handed back; all are counted
 */
export function grepLines(lines: Iterable<string>, pattern: string, keep: { readonly offset: number; readonly limit: number }): Grepped {
  const compiled = compile(pattern);
  if (typeof compiled === "string") return { kind: "invalid", message: compiled };
  const matches: GrepMatch[] = [];
  let total = 0;
  let index = 0;
  let left = maxChars;
  for (const line of lines) {
    left -= line.length;
    if (left < 0) return { kind: "invalid", message: `There is more to look through than ${maxChars} characters; narrow it with path, or filter in a program` };
    if (compiled.matcher(line).find()) {
      if (total >= keep.offset && matches.length < keep.limit) matches.push({ index, line });
      total += 1;
    }
    index += 1;
  }
  return { kind: "matches", matches, total };
}

function compile(pattern: string): RE2JS | string {
  if (pattern.length > maxPatternChars) return `The pattern is longer than ${maxPatternChars} characters`;
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return `The pattern is not a regular expression we know (RE2: no back-references, no look-around): ${error instanceof Error ? error.message : String(error)}`;
  }
}
