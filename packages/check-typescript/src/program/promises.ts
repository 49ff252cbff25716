import ts from "./typescript.cjs";
import { error, warning } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import type { Compiled } from "./compiler.ts";
import { isPromise } from "./severity.ts";
import type { KnownTool, ToolUses } from "./tool-uses.ts";
import { bare, hasModifier, isFunctionExpression, walk } from "./walk.ts";

interface Looking {
  readonly compiled: Compiled;
  readonly uses: ToolUses;
}

/** Promises nobody waits for: what they would have told, and whether they end before the program does, is lost. */
export function findFloatingPromises({ compiled, uses }: Looking): Finding[] {
  const { checker, file } = compiled;
  const findings: Finding[] = [];
  walk(file, (node) => {
    if (ts.isExpressionStatement(node)) findings.push(...floating(node, { compiled, uses }));
    if (ts.isCallExpression(node)) findings.push(...asyncForEach(node, compiled), ...asyncTimer(node, compiled));
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined && isAnyPromise(checker.getTypeAtLocation(node.initializer), compiled) && isNeverRead(node.name, compiled)) {
      const tool = toolInside(node.initializer, uses);
      const at = node.name.getStart(file);
      const { text } = node.name;
      if (tool === undefined) findings.push(warning("FLOATING_PROMISE", at, `${text} is never awaited: an error in it is lost, and it may not have ended when the program does`));
      else findings.push(error("FLOATING_PROMISE", at, `${text} is the promise of ${tool.name} and is never awaited; write const ${text} = await …, or await the call alone`));
    }
  });
  return findings;
}

function floating(statement: ts.ExpressionStatement, { compiled, uses }: Looking): Finding[] {
  const expression = bare(statement.expression);
  const value = ts.isVoidExpression(expression) ? bare(expression.expression) : expression;
  const type = compiled.checker.getTypeAtLocation(value);
  const many = isArrayOfPromises(type, compiled);
  if (!isPromise(type, compiled) && !many) return [];
  const offset = statement.getStart(compiled.file);
  const tool = toolInside(value, uses);
  if (ts.isVoidExpression(expression)) return [warning("FLOATING_PROMISE", offset, "Nothing waits for this promise: an error in it is lost, and it may not have ended when the program does")];
  const say = tool !== undefined || callsAsync(value, compiled) ? error : warning;
  if (many) return [say("FLOATING_PROMISE", offset, `${tool === undefined ? "These promises" : `The calls of ${tool.name}`} are not awaited: their errors are lost, and they may not have ended when the program does; write await Promise.all(…) around them`)];
  return [say("FLOATING_PROMISE", offset, `${tool === undefined ? "This promise" : `The call of ${tool.name}`} is not awaited: its error is lost, and it may not have ended when the program does; write await before it`)];
}

function isAnyPromise(type: ts.Type, compiled: Compiled): boolean {
  return isPromise(type, compiled) || isArrayOfPromises(type, compiled);
}

/** A timer calls back and looks at nothing that comes back: an error of an async callback is lost. */
function asyncTimer(node: ts.CallExpression, { file }: Compiled): Finding[] {
  if (!ts.isIdentifier(node.expression) || !/^(?:setTimeout|setInterval|queueMicrotask)$/.test(node.expression.text)) return [];
  const callback = node.arguments[0] === undefined ? undefined : bare(node.arguments[0]);
  if (callback === undefined || !isFunctionExpression(callback) || !hasModifier(callback, ts.SyntaxKind.AsyncKeyword)) return [];
  return [warning("FLOATING_PROMISE", node.expression.getStart(file), `${node.expression.text} does not wait for an async callback: an error in it is lost; catch it inside, or await new Promise((done) => setTimeout(done, ms)) and go on`)];
}

function isArrayOfPromises(type: ts.Type, compiled: Compiled): boolean {
  const item = compiled.checker.isArrayType(type) ? compiled.checker.getTypeArguments(type as ts.TypeReference)[0] : undefined;
  return item !== undefined && isPromise(item, compiled);
}

/** The first tool that is called for certain inside an expression, callbacks included. */
function toolInside(node: ts.Node, uses: ToolUses): KnownTool | undefined {
  let found: KnownTool | undefined;
  walk(node, (at) => {
    found ??= uses.callOf(at)?.tool;
    return found === undefined ? undefined : false;
  });
  return found;
}

function callsAsync(node: ts.Expression, { checker, file }: Compiled): boolean {
  if (!ts.isCallExpression(node)) return false;
  const declaration = checker.getResolvedSignature(node)?.declaration;
  return declaration !== undefined && declaration.getSourceFile() === file;
}

/** `items.forEach(async …)` starts everything and waits for nothing. */
function asyncForEach(node: ts.CallExpression, { file }: Compiled): Finding[] {
  if (!ts.isPropertyAccessExpression(node.expression) || node.expression.name.text !== "forEach") return [];
  const callback = node.arguments[0] === undefined ? undefined : bare(node.arguments[0]);
  if (callback === undefined || !isFunctionExpression(callback) || !hasModifier(callback, ts.SyntaxKind.AsyncKeyword)) return [];
  const list = node.expression.expression.getText(file).replace(/\s+/g, " ").slice(0, 60);
  return [error("FLOATING_PROMISE", node.expression.name.getStart(file), `forEach does not wait for an async callback; write for (const item of ${list}) { … }, or await Promise.all(${list}.map(async (item) => …))`)];
}

function isNeverRead(name: ts.Identifier, { checker, file }: Compiled): boolean {
  const symbol = checker.getSymbolAtLocation(name);
  let read = false;
  walk(file, (node) => {
    if (ts.isIdentifier(node) && node !== name && node.text === name.text) {
      const used = ts.isShorthandPropertyAssignment(node.parent) ? checker.getShorthandAssignmentValueSymbol(node.parent) : checker.getSymbolAtLocation(node);
      if (used === symbol) read = true;
    }
    return read ? false : undefined;
  });
  return !read;
}
