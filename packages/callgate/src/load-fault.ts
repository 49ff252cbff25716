import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Where loading a file of the user's went wrong. Lines and columns count from 1. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Why a file of the user's could not be loaded. */
export interface LoadFault {
  /** `:3:7`, ` (in /project/lib/x.ts:3:7)` where it is in a file that it imports, or nothing where nobody knows. */
  readonly where: string;
  readonly message: string;
}

/**
 * Says what `import(file)` threw, with the place of the fault: of a syntax error as of one thrown while the file ran. Where
 * Node does not tell with the error (JavaScript that is no JavaScript), it is asked once more: `node --check`.
 */
export async function loadFault(file: string, cause: unknown): Promise<LoadFault> {
  if (!(cause instanceof Error)) return { where: "", message: String(cause) };
  const stack = cause.stack ?? "";
  const place = shownPlace(stack) ?? framePlace(stack, file) ?? (cause instanceof SyntaxError ? shownPlace(await checkOutput(file)) : undefined);
  if (place === undefined) return { where: "", message: cause.message };
  const at = `:${place.line}:${place.column}`;
  return { where: place.file === file ? at : ` (in ${place.file}${at})`, message: cause.message };
}

/** As Node shows a syntax error: file and line, the text, and marks below its place. */
function shownPlace(text: string): Place | undefined {
  const found = /^([^\n]+):(\d+)\n(?:[^\n]*\n)*?([ \t]*)\^+[ \t]*\n/.exec(text);
  if (found === null) return undefined;
  const [, file = "", line, before = ""] = found;
  return { file: pathOf(file), line: Number(line), column: before.length + 1 };
}

/** The first frame of a stack that is in the file. */
function framePlace(stack: string, file: string): Place | undefined {
  for (const [, where = "", line, column] of stack.matchAll(/\(?((?:file:\/\/)?[^\s()]+):(\d+):(\d+)\)?$/gm)) {
    if (pathOf(where) === file) return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

function pathOf(where: string): string {
  try {
    return where.startsWith("file:") ? fileURLToPath(where) : where;
  } catch {
    return where;
  }
}

function checkOutput(file: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["--check", file], { timeout: 10_000, env: { NODE_NO_WARNINGS: "1" } }, (_error, _stdout, stderr) => resolve(stderr));
  });
}
