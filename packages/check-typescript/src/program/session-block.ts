import ts from "./typescript.cjs";
import { error } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import type { Shape } from "./forms.ts";
import type { Imports } from "./imports.ts";
import { walk } from "./walk.ts";

/** What TypeScript says of a name that it cannot find. */
const unknownName: ReadonlySet<number> = new Set([2304, 2552, 2503, 2580, 2584, 2591, 2592, 2867, 2868, 18004]);

/** True where a name is missed that a block before this one may have defined. */
export function isKnownBefore({ code, file, start, length }: ts.Diagnostic, known: ReadonlySet<string>): boolean {
  return unknownName.has(code) && file !== undefined && start !== undefined && known.has(file.text.slice(start, start + (length ?? 0)));
}

/** A block stays as it is: what it declares lives on, and its value is that of its last expression, awaited as `return` does it. */
export function shapeOfBlock(file: ts.SourceFile, statements: readonly ts.Statement[]): Shape {
  const findings: Finding[] = [];
  for (const statement of statements) {
    if (ts.isExportAssignment(statement) || ts.isExportDeclaration(statement)) findings.push(error("EXPORT_FORM", statement.getStart(file), "A block of a session exports nothing: what it declares is there in the next one"));
    walk(statement, (node) => {
      if (ts.isReturnStatement(node)) findings.push(error("RETURN_IN_BLOCK", node.getStart(file), "A block of a session returns from nothing: write the value as its last expression"));
      return ts.isFunctionLike(node) ? false : undefined;
    });
  }
  const last = statements.at(-1);
  const start = last !== undefined && ts.isExpressionStatement(last) && ts.isCallExpression(last.expression) ? last.getStart(file) : undefined;
  return { form: "script", edits: start === undefined ? [] : [{ start, end: start, text: "await " }], tail: "", returned: undefined, findings };
}

/** Said of programs, whose value is what they return. */
export function fitsBlock({ code, offset }: Finding, lastStatement: number): boolean {
  return code !== "NO_VALUE" && (code !== "RESULT_DROPPED" || offset < lastStatement);
}

/** The block's own text on its own lines; its imports stand before the first. */
export function blockCode({ lines }: Imports, body: string): { readonly text: string; readonly firstLineShift: number } {
  const imports = lines.map(({ run }) => run).filter((line) => line !== "");
  const before = imports.length === 0 ? "" : `${imports.join(" ")} `;
  return { text: `${before}${body}`, firstLineShift: -before.length };
}
