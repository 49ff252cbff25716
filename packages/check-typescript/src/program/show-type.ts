import ts from "./typescript.cjs";
import type { Compiled } from "./compiler.ts";
import type { Environment } from "./environment.ts";

/** Longest declaration that goes into a diagnostic. */
const maxDeclarationChars = 800;
const maxTypeChars = 200;

/** A type in one line. */
export function shortType(type: ts.Type, { checker }: Compiled): string {
  const text = checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope).replaceAll('import("tools").', "").replace(/import\("tools\/(\w+)"\)\./g, "");
  return text.length > maxTypeChars ? `${text.slice(0, maxTypeChars - 1)}…` : text;
}

/** How a tool is declared, as its namespace says it, without `any` in place of `unknown`; bounded. */
export function declarationOf(tool: string, environment: Environment): string | undefined {
  const [namespace = "", member = ""] = tool.split(".");
  const file = environment.namespaces.get(namespace)?.file;
  if (file === undefined) return undefined;
  for (const statement of file.statements) {
    if (!ts.isModuleDeclaration(statement) || statement.body === undefined || !ts.isModuleBlock(statement.body)) continue;
    for (const declared of statement.body.statements) {
      if (declares(declared, member)) return clip(file.text.slice(declared.getStart(file), declared.end).replaceAll("any    ", "unknown"));
    }
  }
  return undefined;
}

function declares(statement: ts.Statement, member: string): boolean {
  if (ts.isFunctionDeclaration(statement)) return statement.name?.text === member;
  return ts.isVariableStatement(statement) && statement.declarationList.declarations.some(({ name }) => ts.isIdentifier(name) && name.text === member);
}

function clip(text: string): string {
  const lines = text.replace(/^export (?:declare )?/, "").split("\n").map((line) => line.replace(/^ {2}/, ""));
  const joined = lines.join("\n");
  return joined.length > maxDeclarationChars ? `${joined.slice(0, maxDeclarationChars - 1)}…` : joined;
}
