import ts from "./typescript.cjs";
import { blankSourceFile } from "ts-blank-space";
import { error } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import { blanksFor, editText } from "./edited-text.ts";
import type { Edit } from "./edited-text.ts";
import { hasModifier, walk } from "./walk.ts";

/** JavaScript of the same lines and, but for what needs code of its own, the same columns. */
export type Emitted = { readonly kind: "code"; readonly text: string } | { readonly kind: "refused"; readonly findings: readonly Finding[] };

/**
 * Takes the types out of a program by blanking them, so that every place stays where it was.
 *
 * What is more than a type is rewritten first, on its own lines: enums and namespaces through the compiler, parameter
 * properties as assignments, `<T>x` casts as nothing.
 *
 * @param parse parses a text as the given file was parsed
 */
export function eraseTypes(file: ts.SourceFile, parse: (text: string) => ts.SourceFile): Emitted {
  const edits: Edit[] = [];
  walk(file, (node) => (rewrite(node, file, edits) ? false : undefined));
  const plain = edits.length === 0 ? file : parse(editText(file.text, edits).text);
  const left: ts.Node[] = [];
  const text = blankSourceFile(plain, (node) => left.push(node));
  if (left.length === 0) return { kind: "code", text };
  return { kind: "refused", findings: left.slice(0, 3).map((node) => error("SYNTAX_NOT_SUPPORTED", Math.min(node.getStart(plain), file.text.length), `This cannot be turned into JavaScript as it stands: ${ts.isAsExpression(node) || ts.isSatisfiesExpression(node) ? "put the cast into parentheses" : ts.SyntaxKind[node.kind]}`)) };
}

/** True when the node is dealt with and nothing below it needs looking at. */
function rewrite(node: ts.Node, file: ts.SourceFile, edits: Edit[]): boolean {
  if (ts.isEnumDeclaration(node) || ts.isModuleDeclaration(node)) {
    if (hasModifier(node, ts.SyntaxKind.DeclareKeyword)) return true;
    const start = node.getStart(file);
    edits.push({ start, end: node.end, text: compiled(file.text.slice(start, node.end)) });
    return true;
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [specifier] = node.arguments;
    edits.push({ start: node.getStart(file), end: node.end, text: imported(specifier !== undefined && ts.isStringLiteralLike(specifier) ? specifier.text : "tools") });
    return true;
  }
  if (ts.isTypeAssertionExpression(node)) {
    const start = node.getStart(file);
    const end = node.expression.getStart(file);
    edits.push({ start, end, text: blanksFor(file.text.slice(start, end)) });
    return false;
  }
  if (ts.isConstructorDeclaration(node) && node.body !== undefined) parameterProperties(node, node.body, { file, edits });
  return false;
}

/** What gives a module at run time. The check has refused what may not be imported. */
function imported(specifier: string): string {
  if (specifier !== "tools" && !specifier.startsWith("tools/")) return `$callgate.import(${JSON.stringify(specifier)})`;
  const member = specifier.replace(/^tools\/?/, "");
  return `Promise.resolve($callgate.tools${member === "" ? "" : `.${member}`})`;
}

/** One statement as JavaScript, in as many lines as it had. */
function compiled(text: string): string {
  const { outputText } = ts.transpileModule(text.replace(/^(?:export\s+)?(?:const\s+(?=enum\b))?/, ""), {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, removeComments: true, preserveConstEnums: true, newLine: ts.NewLineKind.LineFeed },
  });
  // What the compiler says about a whole file does not belong into the middle of one.
  const code = outputText.replace(/^"use strict";\n/, "").replace(/^export \{\};?$/m, "").trimEnd();
  const wanted = text.split("\n").length;
  const lines = code.split("\n");
  if (code.includes("`")) return lines.length <= wanted ? code + "\n".repeat(wanted - lines.length) : code;
  return lines.map((line) => line.trim()).join(" ") + "\n".repeat(wanted - 1);
}

function parameterProperties(node: ts.ConstructorDeclaration, body: ts.Block, { file, edits }: { readonly file: ts.SourceFile; readonly edits: Edit[] }): void {
  const names: string[] = [];
  for (const parameter of node.parameters) {
    if (!ts.isParameterPropertyDeclaration(parameter, node)) continue;
    for (const modifier of ts.getModifiers(parameter) ?? []) edits.push({ start: modifier.getStart(file), end: modifier.end, text: blanksFor(modifier.getText(file)) });
    names.push(parameter.name.getText(file));
  }
  if (names.length === 0) return;
  const superCall = body.statements.find((statement) => ts.isExpressionStatement(statement) && ts.isCallExpression(statement.expression) && statement.expression.expression.kind === ts.SyntaxKind.SuperKeyword);
  const at = superCall?.end ?? body.getStart(file) + 1;
  edits.push({ start: at, end: at, text: `${superCall === undefined ? "" : ";"}${names.map((name) => `this.${name}=${name};`).join("")}` });
}

/** TypeScript that JavaScript cannot read: decides which rules a program is held to. */
export function hasTypeScriptSyntax(file: ts.SourceFile): boolean {
  let found = false;
  walk(file, (node) => {
    if (found) return false;
    found = ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node) ? true : isTypeScriptOnly(node);
    return undefined;
  });
  return found;
}

function isTypeScriptOnly(node: ts.Node): boolean {
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node) || ts.isModuleDeclaration(node)) return true;
  if (ts.isNonNullExpression(node) || ts.isTypeParameterDeclaration(node)) return true;
  if ((ts.isParameter(node) || ts.isPropertyDeclaration(node)) && node.questionToken !== undefined) return true;
  if (ts.isHeritageClause(node) && node.token === ts.SyntaxKind.ImplementsKeyword) return true;
  if (ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  if (ts.isImportSpecifier(node) && node.isTypeOnly) return true;
  const only = [ts.SyntaxKind.AbstractKeyword, ts.SyntaxKind.DeclareKeyword, ts.SyntaxKind.OverrideKeyword, ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword, ts.SyntaxKind.PublicKeyword, ts.SyntaxKind.ReadonlyKeyword];
  return only.some((kind) => hasModifier(node, kind));
}
