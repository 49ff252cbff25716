import { parse as parseJsonc, printParseErrorCode } from "jsonc-parser";
import type { ParseError } from "jsonc-parser";
import { TomlError, parse as parseToml } from "smol-toml";
import type { ClientFile } from "./client-files.ts";

/**
 * What a client's file holds: undefined where it is empty, as some clients begin with.
 *
 * Errors: one that says what is wrong and at which line and column; never what stands there, which may be a secret.
 */
export function parseClientText(text: string, format: ClientFile["format"]): unknown {
  if (text.trim() === "") return undefined;
  if (format === "toml") return parsedToml(text);
  const errors: ParseError[] = [];
  const bare = text.replace(/^\uFEFF/, "");
  const value: unknown = parseJsonc(bare, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first === undefined) return value;
  const before = bare.slice(0, first.offset).split("\n");
  throw new Error(`is not valid JSON: ${wordsOf(printParseErrorCode(first.error))} at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`);
}

function parsedToml(text: string): unknown {
  try {
    // Its objects have no prototype.
    return structuredClone(parseToml(text));
  } catch (fault) {
    throw new Error(`is not valid TOML${fault instanceof TomlError ? ` at line ${fault.line}, column ${fault.column}` : ""}`);
  }
}

/** `CloseBraceExpected` → `close brace expected`. */
function wordsOf(code: string): string {
  return code.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}
