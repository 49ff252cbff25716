import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import { isNode, LineCounter, parseDocument } from "yaml";
import type { Document } from "yaml";
import type { EvalCase, EvalSuite, ScriptedWork } from "./eval-suite.ts";
import { suiteSchema } from "./suite-schema.ts";
import type { WrittenCase, WrittenSuite } from "./suite-schema.ts";

/** A suite as it is written, and what it says of its environment. */
export interface ReadSuite extends Omit<EvalSuite, "environment"> {
  /** As written: a path from the suite's folder. */
  readonly environment: string;
}

/**
 * Reads a suite of YAML or JSON.
 *
 * Errors: `CallgateError` USAGE with file, line, column and path of everything that is wrong.
 */
export async function readSuite(file: string): Promise<ReadSuite> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new CallgateError("USAGE", `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  return parseSuite(text, file);
}

/** The same of a text; `file` is named in errors, and programs in files are looked for beside it. */
export function parseSuite(text: string, file: string): ReadSuite {
  const lines = new LineCounter();
  // Every JSON text is YAML. Aliases that grow are bounded by the reader itself.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const broken = document.errors.map(({ pos, message }) => `${place(pos[0])}: ${message}`);
  if (broken.length > 0) throw new CallgateError("USAGE", `${file} is no YAML\n${broken.map((one) => `  ${one}`).join("\n")}`);
  const parsed = suiteSchema.safeParse(valueOf(document, file));
  if (parsed.success) return suiteOf(parsed.data, file);
  const issues = parsed.error.issues.flatMap((issue) => deepest(issue)).map(({ path, message }) => `  ${place(offsetOf(document, path))} ${pathText(path)}: ${message}`);
  throw new CallgateError("USAGE", `${file} is no suite of cases\n${issues.join("\n")}`);
}

function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    throw new CallgateError("USAGE", `${file}: ${cause instanceof Error ? cause.message : "no YAML"}`, { cause });
  }
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly errors?: readonly (readonly Issue[])[];
}

/** Of alternatives, what is wrong with the one that came furthest. */
function deepest(issue: Issue): readonly Issue[] {
  const options = (issue.errors ?? []).map((issues) => issues.flatMap((one) => deepest({ ...one, path: [...issue.path, ...one.path] })));
  const depth = (issues: readonly Issue[]): number => Math.max(0, ...issues.map(({ path }) => path.length));
  const [best] = options.toSorted((a, b) => depth(b) - depth(a));
  return best === undefined || depth(best) <= issue.path.length ? [issue] : best;
}

/** Where a value is written; of one that is missing, what it is missing from. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range !== undefined && node.range !== null) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map(String).join(".") || "the top";
}

function suiteOf({ environment, cases, budgets, name, mode, instructions }: WrittenSuite, file: string): ReadSuite {
  return { name, environment, ...(mode === undefined ? {} : { mode }), ...(instructions === undefined ? {} : { instructions }), cases: cases.map((one) => caseOf(one, { budgets, file })) };
}

interface Common {
  readonly budgets: WrittenSuite["budgets"];
  readonly file: string;
}

function caseOf({ script, mode, program, programFile, language, mustFail, budgets, ...written }: WrittenCase, common: Common): EvalCase {
  const work = workOf({ script, mode, program, programFile, language }, common.file);
  // What is not given is not there, rather than there and undefined.
  return JSON.parse(JSON.stringify({ ...written, ...(work === undefined ? {} : { work }), mustFail: mustFail.map((one) => workOf(one, common.file)), budgets: { ...common.budgets, ...budgets } })) as EvalCase;
}

type WrittenWork = Pick<WrittenCase, "script" | "mode" | "program" | "programFile" | "language">;

function workOf({ script, mode, program, programFile, language }: WrittenWork, file: string): ScriptedWork | undefined {
  const text = programFile === undefined ? program : programIn(programFile, file);
  if (text !== undefined) return { program: text, ...(language === undefined ? {} : { language }) };
  return script === undefined ? undefined : { script, ...(mode === undefined ? {} : { mode }) };
}

function programIn(path: string, file: string): string {
  try {
    return readFileSync(resolve(dirname(file), path), "utf8");
  } catch (cause) {
    throw new CallgateError("USAGE", `${file}: the program ${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
