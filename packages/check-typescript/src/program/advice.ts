import ts from "./typescript.cjs";
import { advice } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import type { Compiled } from "./compiler.ts";
import type { ToolCall, ToolUses } from "./tool-uses.ts";
import { walk } from "./walk.ts";

interface Looking {
  readonly compiled: Compiled;
  readonly uses: ToolUses;
}

/** Things that work and could be better: what could run at once, what may not end, what is asked twice. */
export function findAdvice({ compiled, uses }: Looking): Finding[] {
  const findings: Finding[] = [];
  for (const call of uses.calls) {
    const loop = loopAround(call.node);
    if (loop === undefined) continue;
    if (ts.isForOfStatement(loop) || ts.isForStatement(loop) || ts.isForInStatement(loop)) findings.push(...independentCalls(call, loop, compiled));
    findings.push(...unboundedPaging(call, loop, compiled));
  }
  return [...findings, ...repeatedCalls(uses.calls, compiled)];
}

function loopAround(node: ts.Node): ts.IterationStatement | undefined {
  for (let at = node; at.parent !== undefined && !ts.isFunctionLike(at); at = at.parent) {
    const { parent } = at;
    // What a for loop starts from is asked once.
    if (ts.isIterationStatement(parent, false) && !((ts.isForOfStatement(parent) || ts.isForInStatement(parent)) && parent.expression === at) && !(ts.isForStatement(parent) && parent.initializer === at)) return parent;
  }
  return undefined;
}

/** Reads in a loop that need nothing of an earlier round. Writes stay in their order. */
function independentCalls({ node, tool }: ToolCall, loop: ts.IterationStatement, { checker, file }: Compiled): Finding[] {
  if (tool.effect !== "read" || !ts.isAwaitExpression(node.parent) || leavesEarly(loop)) return [];
  const given = ts.isForStatement(loop) ? namesDeclaredIn(loop.initializer, checker) : new Set<ts.Symbol>();
  // What the head of a loop counts with is known beforehand, unless the body changes it: then it comes from an answer.
  const inBody = changedIn(loop, checker, loop.statement);
  const earlier = withDerived(new Set([...changedIn(loop, checker)].filter((symbol) => !given.has(symbol) || inBody.has(symbol))), loop, checker);
  const mayEnd = ts.isForStatement(loop) && loop.condition !== undefined && mentions(loop.condition, earlier, checker);
  if (mayEnd || mentions(node, earlier, checker)) return [];
  return [advice("CALLS_IN_SEQUENCE", node.getStart(file), `${tool.name} is awaited once per round, and no round needs the one before it; await Promise.all(items.map(async (item) => …)) makes the calls at once`)];
}

function mentions(node: ts.Node, symbols: ReadonlySet<ts.Symbol>, checker: ts.TypeChecker): boolean {
  let found = false;
  walk(node, (at) => {
    const symbol = ts.isIdentifier(at) ? valueSymbol(at, checker) : undefined;
    if (symbol !== undefined && symbols.has(symbol)) found = true;
  });
  return found;
}

/** Of the variable, also where `{ name }` names a property with it. */
function valueSymbol(at: ts.Identifier, checker: ts.TypeChecker): ts.Symbol | undefined {
  return ts.isShorthandPropertyAssignment(at.parent) ? checker.getShorthandAssignmentValueSymbol(at.parent) : checker.getSymbolAtLocation(at);
}

/** With the variables of a round that are made of these. In the order of the text, in which they are made. */
function withDerived(symbols: Set<ts.Symbol>, loop: ts.IterationStatement, checker: ts.TypeChecker): ReadonlySet<ts.Symbol> {
  const all = new Set(symbols);
  walk(loop.statement, (at) => {
    if (!ts.isVariableDeclaration(at) || at.initializer === undefined || !ts.isIdentifier(at.name) || !mentions(at.initializer, all, checker)) return;
    const symbol = checker.getSymbolAtLocation(at.name);
    if (symbol !== undefined) all.add(symbol);
  });
  return all;
}

function leavesEarly(loop: ts.IterationStatement): boolean {
  let leaves = false;
  walk(loop.statement, (node) => {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isBreakStatement(node) || ts.isReturnStatement(node)) leaves = true;
    return undefined;
  });
  return leaves;
}

/** Variables that are assigned in a loop although they live longer than a round. */
function changedIn(loop: ts.IterationStatement, checker: ts.TypeChecker, part: ts.Node = loop): Set<ts.Symbol> {
  const changed = new Set<ts.Symbol>();
  walk(part, (node) => {
    const target = assignedBy(node);
    const symbol = target === undefined ? undefined : checker.getSymbolAtLocation(target);
    if (symbol !== undefined && (symbol.valueDeclaration === undefined || symbol.valueDeclaration.pos < loop.statement.pos || symbol.valueDeclaration.end > loop.statement.end)) changed.add(symbol);
  });
  return changed;
}

function assignedBy(node: ts.Node): ts.Expression | undefined {
  if (ts.isBinaryExpression(node) && node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment && node.operatorToken.kind <= ts.SyntaxKind.LastAssignment && ts.isIdentifier(node.left)) return node.left;
  return (ts.isPostfixUnaryExpression(node) || (ts.isPrefixUnaryExpression(node) && [ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken].includes(node.operator))) && ts.isIdentifier(node.operand) ? node.operand : undefined;
}

function namesDeclaredIn(initializer: ts.ForInitializer | undefined, checker: ts.TypeChecker): Set<ts.Symbol> {
  if (initializer === undefined || !ts.isVariableDeclarationList(initializer)) return new Set();
  return new Set(initializer.declarations.flatMap(({ name }) => checker.getSymbolAtLocation(name) ?? []));
}

/** A loop that goes on as long as the answers say so: one wrong cursor and it never ends. */
function unboundedPaging({ node, tool }: ToolCall, loop: ts.IterationStatement, { checker, file }: Compiled): Finding[] {
  if (!ts.isWhileStatement(loop) && !ts.isDoStatement(loop) && !(ts.isForStatement(loop) && loop.condition === undefined)) return [];
  const changed = changedIn(loop, checker);
  if (!mentions(node, changed, checker) || comparesNumbers(loop)) return [];
  return [advice("PAGING_UNBOUNDED", node.getStart(file), `This loop asks ${tool.name} for page after page without a bound; stop after a number of pages or items you can use`)];
}

function comparesNumbers(loop: ts.IterationStatement): boolean {
  const orders = [ts.SyntaxKind.LessThanToken, ts.SyntaxKind.LessThanEqualsToken, ts.SyntaxKind.GreaterThanToken, ts.SyntaxKind.GreaterThanEqualsToken];
  let found = false;
  walk(loop, (node) => {
    if (ts.isBinaryExpression(node) && orders.includes(node.operatorToken.kind)) found = true;
    return found ? false : undefined;
  });
  return found;
}

/** The same read with the same literal arguments: its result is already held. */
function repeatedCalls(calls: readonly ToolCall[], { file }: Compiled): Finding[] {
  const seen = new Map<string, ToolCall>();
  const findings: Finding[] = [];
  for (const call of calls) {
    if (call.tool.effect !== "read" || !call.node.arguments.every(isLiteral)) continue;
    const key = `${call.tool.name}(${call.node.arguments.map((argument) => argument.getText(file).replace(/\s+/g, " ")).join()})`;
    const before = seen.get(key);
    if (before === undefined) seen.set(key, call);
    else if (!writesBetween(before, call, calls)) findings.push(advice("CALL_REPEATED", call.node.getStart(file), `${call.tool.name} was already called with these arguments; keep its result in a constant`));
  }
  return findings;
}

function writesBetween(from: ToolCall, to: ToolCall, calls: readonly ToolCall[]): boolean {
  return calls.some(({ node, tool }) => tool.effect !== "read" && node.pos > from.node.pos && node.pos < to.node.pos);
}

function isLiteral(node: ts.Expression): boolean {
  if (ts.isObjectLiteralExpression(node)) return node.properties.every((property) => ts.isPropertyAssignment(property) && !ts.isComputedPropertyName(property.name) && isLiteral(property.initializer));
  if (ts.isArrayLiteralExpression(node)) return node.elements.every(isLiteral);
  if (ts.isPrefixUnaryExpression(node)) return ts.isNumericLiteral(node.operand);
  return ts.isStringLiteralLike(node) || ts.isNumericLiteral(node) || [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword, ts.SyntaxKind.NullKeyword].includes(node.kind);
}
