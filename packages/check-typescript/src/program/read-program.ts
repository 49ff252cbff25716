import ts from "./typescript.cjs";
import { error } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";

/** Stands on a line of its own before the program, so that no column of the program moves. */
const wrapperHead = "async function $program() {\n";
const wrapperTail = "\n}";

/** A program read as the body of an async function: where `return` and `await` mean what models mean by them. */
export interface ReadProgram {
  readonly file: ts.SourceFile;
  readonly statements: ts.NodeArray<ts.Statement>;
  /** Subtract it from an offset of `file` to get one of the program. */
  readonly headLength: number;
}

type Parse = (text: string) => ts.SourceFile;

/**
 * Parses a program.
 *
 * @param parse for TypeScript; `parseJsx` is only asked when that fails, to say so when JSX is the reason
 * @returns the program, or its syntax errors at offsets of `text`
 */
export function readProgram(text: string, parse: Parse, parseJsx: Parse): ReadProgram | readonly Finding[] {
  const file = parse(wrapperHead + text + wrapperTail);
  const faults = syntaxErrors(file);
  const [wrapper] = file.statements;
  const headLength = wrapperHead.length;
  if (faults.length === 0 && file.statements.length === 1 && wrapper !== undefined && ts.isFunctionDeclaration(wrapper) && wrapper.body !== undefined) {
    return { file, statements: wrapper.body.statements, headLength };
  }
  const first = faults[0];
  if (wrapper !== undefined && wrapper.end < file.text.length && (first === undefined || (first.start ?? 0) >= wrapper.end)) {
    return [error("TS1128", wrapper.end - 1 - headLength, "This } closes nothing that was opened: there is one } too many before it or here")];
  }
  const jsx = jsxTag.test(text) && syntaxErrors(parseJsx(wrapperHead + text + wrapperTail)).length === 0;
  if (jsx) return [error("JSX_NOT_SUPPORTED", Math.max(0, text.search(jsxTag)), "JSX is not supported: nothing here renders it. Build the text with template strings")];
  return faults.slice(0, 5).map((fault) => explainSyntax(fault, text, headLength));
}

function syntaxErrors(file: ts.SourceFile): readonly ts.DiagnosticWithLocation[] {
  // Kept on the parsed file by the parser; the public way to it needs a whole program.
  return (file as unknown as { parseDiagnostics: readonly ts.DiagnosticWithLocation[] }).parseDiagnostics;
}

const jsxTag = /<[A-Za-z][\w.]*(?:\s[^<>]{0,500})?\/?>|<>/;

function explainSyntax(fault: ts.DiagnosticWithLocation, text: string, headLength: number): Finding {
  const { length } = text;
  const at = fault.start - headLength;
  const message = ts.flattenDiagnosticMessageText(fault.messageText, "\n");
  if (at >= length) return error(`TS${fault.code}`, Math.max(0, length - 1), `The program ends too early: ${lowerFirst(message)} Something is not closed, or the text was cut off`);
  if (fault.code === 1127 && at >= 0) return error("TS1127", at, `The character U+${(text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, "0")} means nothing here; use a space, or put it into a string`);
  if (fault.code === 1260) return error("TS1260", at, "Keywords cannot contain escape characters; write the keyword as it is");
  return error(`TS${fault.code}`, Math.max(0, at), message);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
