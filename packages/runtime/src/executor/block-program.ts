import type { Diagnostic, ProgramLanguage, RunError } from "@callgate/contract";
import { extractProgram } from "../check/extract.ts";

/** The text a gate is given for a block: it runs exactly the block's code. */
export interface BlockProgram {
  readonly text: string;
  /** Lines of `text` before the code. */
  readonly linesBefore: number;
}

/**
 * A gate looks for the program in a model's text, and code that writes Markdown looks like one. Where it would find
 * something else than the code, the code is put into a fence longer than any in it.
 */
export function blockProgram(code: string, language: ProgramLanguage): BlockProgram {
  const found = extractProgram(code, language);
  if (found.kind === "program" && found.fenceLine === undefined) return { text: code, linesBefore: 0 };
  const longest = Array.from(code.matchAll(/`+/g), ([run]) => run.length).reduce((most, length) => Math.max(most, length), 2);
  const marks = "`".repeat(longest + 1);
  return { text: `${marks}${language}\n${code}${code.endsWith("\n") ? "" : "\n"}${marks}\n`, linesBefore: 1 };
}

/** Places in the code instead of in the text that the gate got. */
export function placeInCode<Placed extends RunError | Diagnostic>(placed: Placed, { linesBefore }: BlockProgram): Placed {
  return placed.line === undefined ? placed : { ...placed, line: Math.max(1, placed.line - linesBefore) };
}
