import ts from "./typescript.cjs";
import type { Compiled } from "./compiler.ts";
import { isAssigned, walk } from "./walk.ts";

/**
 * Members named by a literal, `tools["crn"]`, that declared data does not have. TypeScript says so itself in TypeScript (as
 * 7053) and keeps silent in JavaScript, where the same name after a dot is an error.
 */
export function findMissingLiteralMembers({ checker, file, flavour }: Compiled): ts.Diagnostic[] {
  const found: ts.Diagnostic[] = [];
  if (flavour === "ts") return found;
  walk(file, (node) => {
    if (!ts.isElementAccessExpression(node) || !ts.isStringLiteralLike(node.argumentExpression) || isAssigned(node)) return;
    const { text } = node.argumentExpression;
    const type = checker.getTypeAtLocation(node.expression);
    const parts = (type.isUnion() ? type.types : [type]).map((part) => checker.getApparentType(part));
    if (!parts.every((part) => isDeclaredData(part, file) && !hasMember(part, text, checker))) return;
    found.push({ code: 7053, category: ts.DiagnosticCategory.Error, file, start: node.getStart(file), length: node.getWidth(file), messageText: `There is no ${text} on it` });
  });
  return found;
}

/** An object whose shape is declared outside of the program: its members are known. */
function isDeclaredData(type: ts.Type, file: ts.SourceFile): boolean {
  const declarations = type.symbol?.declarations ?? [];
  return (type.flags & ts.TypeFlags.Object) !== 0 && declarations.length > 0 && declarations.every((declaration) => declaration.getSourceFile() !== file);
}

function hasMember(type: ts.Type, name: string, checker: ts.TypeChecker): boolean {
  const keyIndexes = /^\d+$/.test(name) ? [ts.IndexKind.Number, ts.IndexKind.String] : [ts.IndexKind.String];
  return checker.getPropertyOfType(type, name) !== undefined || keyIndexes.some((kind) => checker.getIndexInfoOfType(type, kind) !== undefined);
}
