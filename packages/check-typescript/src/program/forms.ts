import type { ProgramForm } from "@callgate/contract";
import ts from "./typescript.cjs";
import { error } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import { blanksFor, inPlaceOf } from "./edited-text.ts";
import type { Edit } from "./edited-text.ts";
import { bare, hasModifier, isFunctionExpression, isTypeStatement, walk } from "./walk.ts";

/** What to do to a program's text so that, as the body of an async function, it gives its value. */
export interface Shape {
  readonly form: ProgramForm;
  /** Offsets of the text the program was read from. None of them adds or takes a line. */
  readonly edits: readonly Edit[];
  /** Put after the program, on the line of the closing brace. */
  readonly tail: string;
  /** Offset in the file of the last expression, which was made the value although nothing said so. */
  readonly returned: number | undefined;
  readonly findings: readonly Finding[];
}

type FunctionNode = ts.FunctionDeclaration | ts.FunctionExpression | ts.ArrowFunction;

/** Finds out how a program gives its value. */
export function shapeOf(file: ts.SourceFile, statements: readonly ts.Statement[]): Shape {
  const exports = exportEdits(file, statements);
  const real = statements.filter((statement) => !ts.isImportDeclaration(statement) && !isTypeStatement(statement));
  const shape = defaultExport(file, real) ?? uncalledFunction(file, real) ?? onlyFunctions(file, real) ?? script(file, real);
  return { ...shape, edits: [...exports, ...shape.edits] };
}

function plain(form: ProgramForm, more: Partial<Shape> = {}): Shape {
  return { form, edits: [], tail: "", returned: undefined, findings: [], ...more };
}

/** `export` before a declaration says nothing here, and neither does `export { … }`. */
function exportEdits(file: ts.SourceFile, statements: readonly ts.Statement[]): Edit[] {
  const edits: Edit[] = [];
  const blank = (start: number, end: number): void => {
    edits.push({ start, end, text: blanksFor(file.text.slice(start, end)) });
  };
  for (const statement of statements) {
    if (ts.isExportDeclaration(statement) && statement.moduleSpecifier === undefined) blank(statement.getStart(file), statement.end);
    if (hasModifier(statement, ts.SyntaxKind.DefaultKeyword) || !ts.canHaveModifiers(statement)) continue;
    for (const modifier of ts.getModifiers(statement) ?? []) if (modifier.kind === ts.SyntaxKind.ExportKeyword) blank(modifier.getStart(file), modifier.end);
  }
  return edits;
}

function defaultExport(file: ts.SourceFile, statements: readonly ts.Statement[]): Shape | undefined {
  const exported = statements.filter((statement) => ts.isExportAssignment(statement) || hasModifier(statement, ts.SyntaxKind.DefaultKeyword));
  const [statement, second] = exported;
  if (statement === undefined) return undefined;
  if (second !== undefined) return plain("export_default", { findings: [error("TS2528", second.getStart(file), "A program can have only one export default")] });
  if (ts.isClassDeclaration(statement)) return plain("export_default", { findings: [error("EXPORT_FORM", statement.getStart(file), "Export a function or a value, not a class")] });
  if (ts.isFunctionDeclaration(statement)) return exportedFunction(file, statement);
  if (!ts.isExportAssignment(statement)) return undefined;
  if (statement.isExportEquals === true) return plain("export_default", { findings: [error("EXPORT_FORM", statement.getStart(file), "Write export default, or return the value")] });
  const value = bare(statement.expression);
  const called = isFunctionExpression(value) ? value : ts.isIdentifier(value) ? functionNamed(value.text, statements) : undefined;
  const start = statement.getStart(file);
  const valueStart = statement.expression.getStart(file);
  const head = file.text.slice(start, valueStart);
  return plain("export_default", {
    edits: [{ start, end: valueStart, text: inPlaceOf(head, "const $main = (") }, { start: statement.expression.end, end: statement.expression.end, text: ")" }],
    tail: called === undefined ? " return $main;" : " return await $main();",
    findings: called === undefined ? [] : takesArguments(file, called),
  });
}

function exportedFunction(file: ts.SourceFile, statement: ts.FunctionDeclaration): Shape {
  const start = statement.getStart(file);
  const last = ts.getModifiers(statement)?.find(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword);
  const end = last?.end ?? start;
  const head = file.text.slice(start, end);
  const findings = takesArguments(file, statement);
  if (statement.name !== undefined) return plain("export_default", { edits: [{ start, end, text: blanksFor(head) }], tail: ` return await ${statement.name.text}();`, findings });
  return plain("export_default", { edits: [{ start, end, text: inPlaceOf(head, "const $main=") }, { start: statement.end, end: statement.end, text: ";" }], tail: " return await $main();", findings });
}

/** The program ends with a function that nobody calls: `async () => { … }`. */
function uncalledFunction(file: ts.SourceFile, statements: readonly ts.Statement[]): Shape | undefined {
  const last = statements.at(-1);
  if (last === undefined || !ts.isExpressionStatement(last)) return undefined;
  const value = bare(last.expression);
  if (!isFunctionExpression(value)) return undefined;
  const start = last.expression.getStart(file);
  const { end } = last.expression;
  return plain("arrow", { edits: [{ start, end: start, text: "return await (" }, { start: end, end, text: ")()" }], findings: takesArguments(file, value) });
}

const mainNames = ["main", "run", "execute", "program", "handler"];

/** Nothing but functions and constants: the one that nobody calls is the program. */
function onlyFunctions(file: ts.SourceFile, statements: readonly ts.Statement[]): Shape | undefined {
  const functions = statements.flatMap(namedFunctions);
  if (functions.length === 0 || !statements.every(onlyDeclares)) return undefined;
  const used = new Map<string, number>();
  walk(file, (node) => {
    if (ts.isIdentifier(node)) used.set(node.text, (used.get(node.text) ?? 0) + 1);
  });
  const uncalled = functions.filter(({ name }) => used.get(name) === 1);
  const named = functions.filter(({ name }) => mainNames.includes(name));
  const [only] = uncalled.length === 1 ? uncalled : named.length === 1 ? named : functions.length === 1 ? functions : [];
  if (only === undefined) {
    const names = functions.map(({ name }) => name).join(", ");
    return plain("function", { findings: [error("NOTHING_CALLED", functions[0]?.node.getStart(file) ?? 0, `The program declares ${names} and calls none of them; end it with return await ${functions.at(-1)?.name ?? ""}()`)] });
  }
  return plain("function", { tail: ` return await ${only.name}();`, findings: takesArguments(file, only.node) });
}

function namedFunctions(statement: ts.Statement): { readonly name: string; readonly node: FunctionNode }[] {
  if (ts.isFunctionDeclaration(statement) && statement.name !== undefined && statement.body !== undefined) return [{ name: statement.name.text, node: statement }];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap(({ name, initializer }) => {
    const value = initializer === undefined ? undefined : bare(initializer);
    return ts.isIdentifier(name) && value !== undefined && isFunctionExpression(value) ? [{ name: name.text, node: value }] : [];
  });
}

/** Neither calls nor awaits anything when it is reached. */
function onlyDeclares(statement: ts.Statement): boolean {
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) || ts.isEnumDeclaration(statement) || ts.isExportDeclaration(statement)) return true;
  if (!ts.isVariableStatement(statement)) return false;
  let quiet = true;
  walk(statement, (node) => {
    if (isFunctionExpression(node)) return false;
    if (ts.isCallExpression(node) || ts.isAwaitExpression(node)) quiet = false;
    return undefined;
  });
  return quiet;
}

function script(file: ts.SourceFile, statements: readonly ts.Statement[]): Shape {
  const last = statements.at(-1);
  const form: ProgramForm = statements.length === 1 && last !== undefined && ts.isExpressionStatement(last) ? "expression" : "script";
  if (last === undefined || !ts.isExpressionStatement(last) || (form === "script" && !isValue(last.expression))) return plain(form);
  const start = last.expression.getStart(file);
  const { end } = last.expression;
  return plain(form, { edits: [{ start, end: start, text: "return (" }, { start: end, end, text: ")" }], returned: start });
}

const changers: ReadonlySet<string> = new Set(["push", "unshift", "splice", "set", "add", "delete", "clear", "forEach", "sort", "reverse", "append", "log", "warn", "error", "info"]);

/** What somebody may have meant as a value; not what is written for what it changes. */
function isValue(expression: ts.Expression): boolean {
  const value = bare(expression);
  if (ts.isBinaryExpression(value)) return value.operatorToken.kind < ts.SyntaxKind.FirstAssignment || value.operatorToken.kind > ts.SyntaxKind.LastAssignment;
  if (ts.isPostfixUnaryExpression(value) || ts.isDeleteExpression(value) || ts.isVoidExpression(value)) return false;
  if (ts.isPrefixUnaryExpression(value)) return value.operator !== ts.SyntaxKind.PlusPlusToken && value.operator !== ts.SyntaxKind.MinusMinusToken;
  if (ts.isCallExpression(value) && ts.isPropertyAccessExpression(value.expression) && ts.isIdentifier(value.expression.expression)) return !changers.has(value.expression.name.text);
  return !(ts.isCallExpression(value) && ts.isIdentifier(value.expression) && ["text", "progress"].includes(value.expression.text));
}

function functionNamed(name: string, statements: readonly ts.Statement[]): FunctionNode | undefined {
  return statements.flatMap(namedFunctions).find((found) => found.name === name)?.node;
}

function takesArguments(file: ts.SourceFile, node: FunctionNode): Finding[] {
  const required = node.parameters.filter((parameter) => parameter.initializer === undefined && parameter.questionToken === undefined && parameter.dotDotDotToken === undefined && parameter.name.getText(file) !== "this");
  const [first] = required;
  if (first === undefined) return [];
  const names = required.map((parameter) => parameter.name.getText(file)).join(", ");
  return [error("PROGRAM_TAKES_ARGUMENTS", first.getStart(file), `The program's function is called without arguments, but takes (${names.slice(0, 120)}). Tools are in the global tools, or import { namespace } from "tools"; give other parameters a default`)];
}
