import ts from "./typescript.cjs";
import { nearest } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import { toolCallAround } from "./explaining.ts";
import type { Explaining } from "./explaining.ts";
import type { Fix } from "./fix.ts";
import { nodeAt } from "./node-at.ts";
import { isPromise } from "./severity.ts";
import { referenceOf } from "./tool-uses.ts";
import { bare, functionAround, hasModifier, isInType, walk } from "./walk.ts";

interface Typed {
  readonly diagnostic: ts.Diagnostic;
  readonly finding: Finding;
}

/**
 * Repairs that have only one reading, for errors of the type check:
 *
 * - a missing `await` on a tool call whose un-awaited use is the error;
 * - a misspelt field that is read, or a misspelt tool that only reads, with exactly one near name. Never towards a tool
 *   that may write, and never in what a write is given: there a wrong guess changes the world.
 */
export function findRepairs(typed: readonly Typed[], context: Explaining): Fix[] {
  const fixes = new Map<number, Fix>();
  for (const { diagnostic, finding } of typed) {
    // What is only away is not misspelt.
    if (finding.severity !== "error" || finding.code === "SOURCE_UNAVAILABLE") continue;
    const node = nodeAt(context.compiled.file, diagnostic.start ?? 0, diagnostic.length ?? 0);
    const fix = addAwait(node, context) ?? rename(diagnostic, node, context);
    if (fix !== undefined && !fixes.has(fix.offset)) fixes.set(fix.offset, fix);
  }
  return [...fixes.values()];
}

/** The expressions whose being a promise may be what is wrong at a place. */
function subjectsOf(node: ts.Node): ts.Expression[] {
  const found: ts.Expression[] = [];
  if (ts.isExpression(node)) found.push(node);
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) found.push(parent.expression);
  if (ts.isPropertyAssignment(parent) && parent.name === node) found.push(parent.initializer);
  if (ts.isVariableDeclaration(parent) && parent.name === node && parent.initializer !== undefined) found.push(parent.initializer);
  if (ts.isBindingElement(parent) && ts.isVariableDeclaration(parent.parent.parent) && parent.parent.parent.initializer !== undefined) found.push(parent.parent.parent.initializer);
  if (ts.isReturnStatement(node) && node.expression !== undefined) found.push(node.expression);
  if (ts.isBinaryExpression(node)) found.push(node.left, node.right);
  return found;
}

function addAwait(node: ts.Node, context: Explaining): Fix | undefined {
  for (const subject of subjectsOf(node)) {
    if (!isPromise(context.compiled.checker.getTypeAtLocation(subject), context.compiled)) continue;
    const source = promiseSource(bare(subject), context);
    const call = source === undefined ? undefined : context.uses.callOf(source);
    if (source === undefined || call === undefined || !mayAwait(source)) continue;
    const offset = source.getStart(context.compiled.file);
    const needsParentheses = (ts.isPropertyAccessExpression(source.parent) || ts.isElementAccessExpression(source.parent) || ts.isCallExpression(source.parent)) && source.parent.expression === source;
    const edits = needsParentheses ? [{ start: offset, end: offset, text: "(await " }, { start: source.end, end: source.end, text: ")" }] : [{ start: offset, end: offset, text: "await " }];
    return { kind: "await_added", message: `Added await before the call of ${call.tool.name}`, offset, edits };
  }
  return undefined;
}

/** The tool call that made a promise: the expression itself, or what a constant was initialized with. */
function promiseSource(expression: ts.Expression, { compiled, uses }: Explaining): ts.Expression | undefined {
  if (uses.callOf(expression) !== undefined) return expression;
  if (!ts.isIdentifier(expression)) return undefined;
  const declaration = compiled.checker.getSymbolAtLocation(expression)?.valueDeclaration;
  if (declaration === undefined || !ts.isVariableDeclaration(declaration) || declaration.initializer === undefined || !ts.isIdentifier(declaration.name)) return undefined;
  if ((declaration.parent.flags & ts.NodeFlags.Const) === 0 || isUsedAsPromise(declaration.name, compiled)) return undefined;
  const source = bare(declaration.initializer);
  return uses.callOf(source) === undefined ? undefined : source;
}

/** `a` in `Promise.all([a, b])`, `a.then(…)`: somebody meant the promise. */
function isUsedAsPromise(name: ts.Identifier, { checker, file }: Explaining["compiled"]): boolean {
  const symbol = checker.getSymbolAtLocation(name);
  let found = false;
  walk(file, (node) => {
    if (!ts.isIdentifier(node) || node.text !== name.text || node === name || checker.getSymbolAtLocation(node) !== symbol) return;
    const { parent } = node;
    if (ts.isAwaitExpression(parent) || ts.isArrayLiteralExpression(parent)) found = true;
    if (ts.isPropertyAccessExpression(parent) && ["then", "catch", "finally"].includes(parent.name.text)) found = true;
  });
  return found;
}

function mayAwait(node: ts.Node): boolean {
  const around = functionAround(node);
  return around !== undefined && hasModifier(around, ts.SyntaxKind.AsyncKeyword) && !isParameterDefault(node, around);
}

function isParameterDefault(node: ts.Node, around: ts.SignatureDeclaration): boolean {
  return around.parameters.some((parameter) => parameter.pos <= node.pos && node.end <= parameter.end);
}

function rename(diagnostic: ts.Diagnostic, node: ts.Node, context: Explaining): Fix | undefined {
  if ((diagnostic.code !== 2339 && diagnostic.code !== 2551) || !ts.isIdentifier(node) || isInType(node)) return undefined;
  const { compiled, environment } = context;
  const access = node.parent;
  if (ts.isBindingElement(access)) return renameBinding(node, access, context);
  if (!ts.isPropertyAccessExpression(access) || access.name !== node || isChanged(access) || feedsWrite(access, context)) return undefined;
  const reference = referenceOf(access.expression, compiled.checker, environment);
  if (reference?.kind === "tools") return renameNamespace(node, access, context);
  const candidates = reference?.kind === "namespace" ? reference.known.tools.keys() : fieldsOf(access.expression, context);
  const { only } = nearest(node.text, candidates);
  if (only === undefined) return undefined;
  if (reference?.kind === "namespace" && reference.known.tools.get(only) !== "read") return undefined;
  return renamed(node, only, { what: reference?.kind === "namespace" ? `tools.${reference.known.namespace}.${only}` : only, file: compiled.file });
}

/** `const { titel } = document` reads `title`, and keeps the name the program uses. */
function renameBinding(node: ts.Identifier, element: ts.BindingElement, context: Explaining): Fix | undefined {
  const declaration = element.parent.parent;
  if (!ts.isVariableDeclaration(declaration) || declaration.initializer === undefined || element.initializer !== undefined) return undefined;
  if (referenceOf(declaration.initializer, context.compiled.checker, context.environment) !== undefined) return undefined;
  const { only } = nearest(node.text, fieldsOf(declaration.initializer, context));
  if (only === undefined || identifiersOf(element.name).some((name) => feedsWrite(name, context))) return undefined;
  return renamed(node, element.propertyName === undefined ? `${only}: ${node.text}` : only, { what: only, file: context.compiled.file });
}

/** A misspelt namespace, when what is taken of it is there under the right one and only reads. */
function renameNamespace(node: ts.Identifier, access: ts.PropertyAccessExpression, { compiled, environment }: Explaining): Fix | undefined {
  const { only } = nearest(node.text, environment.namespaces.keys());
  const member = ts.isPropertyAccessExpression(access.parent) && access.parent.expression === access ? access.parent.name.text : undefined;
  if (only === undefined || member === undefined || environment.namespaces.get(only)?.tools.get(member) !== "read") return undefined;
  return renamed(node, only, { what: `tools.${only}`, file: compiled.file });
}

function renamed(node: ts.Identifier, name: string, { what, file }: { readonly what: string; readonly file: ts.SourceFile }): Fix {
  const offset = node.getStart(file);
  return { kind: "renamed", message: `Read ${what} instead of ${node.text}, the only name near to it`, offset, edits: [{ start: offset, end: node.end, text: name }] };
}

/** Fields of declared data only: what the program made itself, and methods, are nobody's misspelling. */
function fieldsOf(target: ts.Expression, { compiled }: Explaining): string[] {
  const type = compiled.checker.getTypeAtLocation(target);
  if ((type.flags & ts.TypeFlags.Object) === 0 || compiled.checker.isArrayType(type)) return [];
  const properties = compiled.checker.getPropertiesOfType(type);
  const isDeclared = properties.length > 0 && properties.every(({ declarations }) => declarations?.every((declaration) => declaration.getSourceFile().isDeclarationFile && !compiled.program.isSourceFileDefaultLibrary(declaration.getSourceFile())) ?? false);
  return isDeclared ? properties.map(({ name }) => name) : [];
}

function isChanged(access: ts.Expression): boolean {
  const { parent } = access;
  if (ts.isDeleteExpression(parent) || ts.isPostfixUnaryExpression(parent)) return true;
  if (ts.isPrefixUnaryExpression(parent)) return parent.operator === ts.SyntaxKind.PlusPlusToken || parent.operator === ts.SyntaxKind.MinusMinusToken;
  return ts.isBinaryExpression(parent) && parent.left === access && parent.operatorToken.kind >= ts.SyntaxKind.FirstAssignment && parent.operatorToken.kind <= ts.SyntaxKind.LastAssignment;
}

/** How far a value is followed through constants. */
const maxHops = 8;

/** Whether a value is, directly or through variables, among the arguments of a call that may write. */
function feedsWrite(node: ts.Node, context: Explaining, hops = 0): boolean {
  const call = toolCallAround(node, context.uses);
  if (call !== undefined && call.tool.effect !== "read") return true;
  const names = ts.isBindingElement(node.parent) && ts.isIdentifier(node) ? [node] : namesGiven(node);
  if (names.length === 0) return false;
  // Too long a way to follow, with a write at its end somewhere: not provably harmless.
  if (hops >= maxHops) return context.uses.calls.some(({ tool }) => tool.effect !== "read");
  const { checker, file } = context.compiled;
  const symbols = new Set(names.map((name) => checker.getSymbolAtLocation(name)));
  let feeds = false;
  walk(file, (at) => {
    if (feeds) return false;
    if (!ts.isIdentifier(at) || names.includes(at) || !names.some(({ text }) => text === at.text)) return undefined;
    const symbol = ts.isShorthandPropertyAssignment(at.parent) ? checker.getShorthandAssignmentValueSymbol(at.parent) : checker.getSymbolAtLocation(at);
    if (symbols.has(symbol) && feedsWrite(at, context, hops + 1)) feeds = true;
    return undefined;
  });
  return feeds;
}

/** Variables that hold a value once the statement around it has run. */
function namesGiven(node: ts.Node): ts.Identifier[] {
  const names: ts.Identifier[] = [];
  for (let at = node; at.parent !== undefined && !ts.isSourceFile(at.parent); at = at.parent) {
    const { parent } = at;
    if (ts.isVariableDeclaration(parent) && parent.initializer === at) return [...names, ...identifiersOf(parent.name)];
    if (ts.isForOfStatement(parent) && parent.expression === at && ts.isVariableDeclarationList(parent.initializer)) return [...names, ...parent.initializer.declarations.flatMap(({ name }) => identifiersOf(name))];
    if (ts.isBinaryExpression(parent) && parent.right === at && ts.isIdentifier(bare(parent.left))) names.push(bare(parent.left) as ts.Identifier);
    // A method of a collection keeps what it is given: rows.push(value).
    if (ts.isCallExpression(parent) && ts.isPropertyAccessExpression(parent.expression) && ts.isIdentifier(parent.expression.expression)) names.push(parent.expression.expression);
    if (ts.isBlock(parent)) return names;
  }
  return names;
}

function identifiersOf(name: ts.BindingName): ts.Identifier[] {
  return ts.isIdentifier(name) ? [name] : name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : identifiersOf(element.name)));
}
