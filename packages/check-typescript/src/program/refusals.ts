import ts from "./typescript.cjs";
import { error } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import type { Environment } from "./environment.ts";
import { hasModifier, walk } from "./walk.ts";

/** What can be read but not run, or is read differently by compiler and engine. Each finding says what to write instead. */
export function findRefusals(file: ts.SourceFile, { modules }: Pick<Environment, "modules">): Finding[] {
  const findings: Finding[] = [];
  walk(file, (node) => {
    const finding = refusalOf(node, file) ?? (modules === undefined ? requireOf(node, file) : undefined);
    if (finding !== undefined) findings.push(finding);
  });
  return [...findings, ...strangeSpaces(file)];
}

function refusalOf(node: ts.Node, file: ts.SourceFile): Finding | undefined {
  const at = (): number => node.getStart(file);
  if (ts.isDecorator(node)) return error("DECORATOR_NOT_SUPPORTED", at(), "Decorators are not supported: the engine has none. Call the function on the class or method instead");
  if (ts.isIdentifier(node) && (node.text === "$callgate" || node.text === "$program" || node.text === "$main") && node.pos > 0 && !(ts.isFunctionDeclaration(node.parent) && ts.isSourceFile(node.parent.parent))) {
    return error("NAME_RESERVED", at(), `The name ${node.text} is the runtime's own; use another`);
  }
  if (ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.BlockScoped) >= ts.NodeFlags.Using) return error("USING_NOT_SUPPORTED", at(), "using declarations are not supported; use try … finally");
  if (hasModifier(node, ts.SyntaxKind.AccessorKeyword)) return error("ACCESSOR_NOT_SUPPORTED", at(), "accessor fields are not supported; write a getter and a setter");
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.LessThanToken && file.text.startsWith("<!--", node.operatorToken.getStart(file))) {
    return error("HTML_COMMENT", node.operatorToken.getStart(file), "<!-- starts a comment in JavaScript; put spaces between < and ! and --");
  }
  if (ts.isWithStatement(node)) return error("TS1101", at(), "with is not allowed: programs are strict");
  if (ts.isModuleDeclaration(node) && (ts.isStringLiteral(node.name) || node.name.text === "global")) return error("DECLARATION_NOT_ALLOWED", at(), "A program cannot declare modules or globals; the tools' types are there already");
  return undefined;
}

function requireOf(node: ts.Node, file: ts.SourceFile): Finding | undefined {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression) || node.expression.text !== "require") return undefined;
  return error("REQUIRE_NOT_SUPPORTED", node.getStart(file), 'require does not exist here; write import { namespace } from "tools", or use the global tools');
}

/** Taken for blanks by the compiler and for a syntax error by engines, or the other way round. */
const strange = /[\u0085\u180E\u200B\u2060\uFEFF]/g;

function strangeSpaces(file: ts.SourceFile): Finding[] {
  let seen = 0;
  let first: RegExpExecArray | undefined;
  for (const match of file.text.matchAll(strange)) {
    seen += 1;
    if (seen > maxStrange || !isInText(file, match.index)) {
      first = match;
      break;
    }
  }
  if (first === undefined) return [];
  const name = `U+${first[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  return [error("FORBIDDEN_CHARACTER", first.index, `The invisible character ${name} stands between words, where compilers and engines read it differently; use a space`)];
}

/** Looking up where a character stands costs time; a program with more of them is taken as hiding something. */
const maxStrange = 500;

/** Inside a string, template, regular expression or comment. */
function isInText(file: ts.SourceFile, offset: number): boolean {
  let node: ts.Node = file;
  for (let next: ts.Node | undefined = node; next !== undefined; ) {
    node = next;
    next = ts.forEachChild(node, (child) => (child.pos <= offset && offset < child.end ? child : undefined));
  }
  if (offset >= node.getStart(file)) return ts.isLiteralExpression(node) || node.kind === ts.SyntaxKind.TemplateHead || node.kind === ts.SyntaxKind.TemplateMiddle || node.kind === ts.SyntaxKind.TemplateTail;
  const comments = ts.getLeadingCommentRanges(file.text, node.pos) ?? [];
  return [...comments, ...(ts.getTrailingCommentRanges(file.text, node.pos) ?? [])].some(({ pos, end }) => pos <= offset && offset < end);
}
