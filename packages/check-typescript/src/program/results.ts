import ts from "./typescript.cjs";
import { warning } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import type { Compiled } from "./compiler.ts";
import type { ToolUses } from "./tool-uses.ts";
import { bare, walk } from "./walk.ts";

/** Methods that change nothing: without their result they did nothing. */
const pure: ReadonlySet<string> = new Set(["map", "filter", "slice", "concat", "flatMap", "flat", "toSorted", "toReversed", "toSpliced", "trim", "toUpperCase", "toLowerCase", "replaceAll", "padStart", "padEnd", "join", "split"]);

/** Results that are thrown away although they are all there is to the expression. */
export function findDroppedResults({ compiled, uses }: { readonly compiled: Compiled; readonly uses: ToolUses }): Finding[] {
  const { checker, file } = compiled;
  const findings: Finding[] = [];
  walk(file, (node) => {
    if (!ts.isExpressionStatement(node)) return;
    const expression = bare(node.expression);
    const awaited = ts.isAwaitExpression(expression) ? bare(expression.expression) : undefined;
    const call = awaited === undefined ? undefined : uses.callOf(awaited);
    if (call?.tool.effect === "read") findings.push(warning("RESULT_DROPPED", node.getStart(file), `The result of ${call.tool.name} is not used; it only reads, so the call does nothing. Keep it: const result = await …`));
    if (!ts.isCallExpression(expression) || !ts.isPropertyAccessExpression(expression.expression) || !pure.has(expression.expression.name.text)) return;
    const target = checker.getTypeAtLocation(expression.expression.expression);
    const isPure = checker.isArrayType(target) || (target.flags & ts.TypeFlags.StringLike) !== 0;
    if (isPure && !hasCallback(expression)) findings.push(warning("RESULT_DROPPED", node.getStart(file), `The result of ${expression.expression.name.text}() is not used, and it changes nothing itself`));
  });
  return findings;
}

function hasCallback(call: ts.CallExpression): boolean {
  return call.arguments.some((argument) => !ts.isLiteralExpression(argument));
}

/** A program whose value is nothing, when it does not print either (DESIGN P14). `program` is the function around it. */
export function findNoValue(program: ts.FunctionDeclaration, { compiled }: { readonly compiled: Compiled }): Finding[] {
  const { checker, file } = compiled;
  const signature = checker.getSignatureFromDeclaration(program);
  const value = signature === undefined ? undefined : checker.getAwaitedType(checker.getReturnTypeOfSignature(signature));
  const last = program.body?.statements.findLast((statement) => !ts.isReturnStatement(statement)) ?? program.body?.statements.at(-1);
  if (value === undefined || last === undefined || !isNothing(value)) return [];
  const offset = last.getStart(file);
  const prints = printsSomething(program);
  if (prints) return [{ severity: "advice", code: "NO_VALUE", offset, message: "The program returns nothing; only what it prints comes back. return the value to get it as data" }];
  const names = ts.isVariableStatement(last) ? last.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : [])) : [];
  const hint = names[0] === undefined ? changed(last) : names[0];
  return [warning("NO_VALUE", offset, { message: `The program returns nothing: its result will be undefined. End it with return ${hint ?? "<value>"}`, ...(hint === undefined ? {} : { suggestions: [`return ${hint}`] }) })];
}

/** `rows.push(x)` at the end: `rows` is what was wanted. */
function changed(last: ts.Statement): string | undefined {
  const expression = ts.isExpressionStatement(last) ? bare(last.expression) : undefined;
  if (expression === undefined) return undefined;
  if (ts.isBinaryExpression(expression) && ts.isIdentifier(expression.left)) return expression.left.text;
  return ts.isCallExpression(expression) && ts.isPropertyAccessExpression(expression.expression) && ts.isIdentifier(expression.expression.expression) ? expression.expression.expression.text : undefined;
}

function isNothing(type: ts.Type): boolean {
  return type.isUnion() ? type.types.every(isNothing) : (type.flags & (ts.TypeFlags.Void | ts.TypeFlags.Undefined)) !== 0;
}

function printsSomething(body: ts.Node): boolean {
  let found = false;
  walk(body, (node) => {
    if (ts.isCallExpression(node)) {
      const callee = node.expression;
      if (ts.isIdentifier(callee) && callee.text === "text") found = true;
      if (ts.isPropertyAccessExpression(callee) && ts.isIdentifier(callee.expression) && callee.expression.text === "console") found = true;
    }
    return found ? false : undefined;
  });
  return found;
}
