import type { Effect, Reach } from "@callgate/contract";
import ts from "./typescript.cjs";
import { reachOf } from "@callgate/runtime/check-parts";
import type { Compiled } from "./compiler.ts";
import type { Environment, KnownNamespace } from "./environment.ts";
import { bare, isInType, walk } from "./walk.ts";

export interface KnownTool {
  /** `namespace.tool` */
  readonly name: string;
  readonly effect: Effect;
}

/** A place in the program at which a tool is called for certain. */
export interface ToolCall {
  readonly node: ts.CallExpression;
  readonly tool: KnownTool;
}

/** What a program does with tools, as far as its text and types tell. */
export interface ToolUses {
  readonly calls: readonly ToolCall[];
  /** By the call's node. */
  callOf(node: ts.Node): ToolCall | undefined;
  readonly reach: Reach;
  /** Places at which a named tool is used; not those that only might be. */
  readonly named: readonly { readonly node: ts.Node; readonly tool: KnownTool }[];
  /** Why `reach` is wider than what is named; the first place. */
  readonly dynamic: ts.Node | undefined;
}

/** What an expression stands for: the object `tools`, a namespace, or a tool. */
export type ToolReference = { readonly kind: "tools" } | { readonly kind: "namespace"; readonly known: KnownNamespace } | { readonly kind: "tool"; readonly tool: KnownTool };

/** Ways to code or objects that no text shows. */
const escapes: ReadonlySet<string> = new Set(["eval", "Function", "globalThis", "AsyncFunction", "Reflect", "global", "require"]);

export function findToolUses(compiled: Compiled, environment: Environment): ToolUses {
  const { checker, file } = compiled;
  const named: { node: ts.Node; tool: KnownTool }[] = [];
  const possible = new Set<KnownNamespace>();
  const calls = new Map<ts.Node, ToolCall>();
  let dynamic: ts.Node | undefined;
  let everything = false;
  const escape = (node: ts.Node, known?: KnownNamespace): void => {
    dynamic ??= node;
    if (known === undefined) everything = true;
    else possible.add(known);
  };
  walk(file, (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return false;
    if (ts.isCallExpression(node)) {
      const tool = calledTool(node, checker, environment);
      if (tool !== undefined) calls.set(node, { node, tool });
    }
    if (ts.isIdentifier(node) && escapes.has(node.text) && isGlobal(node, checker, file)) escape(node);
    if (ts.isPropertyAccessExpression(node) && node.name.text === "constructor") escape(node);
    if (!ts.isIdentifier(node) && !ts.isPropertyAccessExpression(node) && !ts.isElementAccessExpression(node)) return undefined;
    const reference = isName(node) ? undefined : referenceOf(node, checker, environment);
    if (reference === undefined) return undefined;
    if (reference.kind === "tool") named.push({ node, tool: reference.tool });
    else if (!isFollowed(node)) escape(node, reference.kind === "namespace" ? reference.known : undefined);
    return reference.kind === "tool" && !ts.isElementAccessExpression(node) ? false : undefined;
  });
  return { calls: [...calls.values()], callOf: (node) => calls.get(node), named, dynamic, reach: reachIn({ named, possible, everything }, environment) };
}

/** Resolves an expression by its type, so that `const gh = tools.github` keeps its meaning. */
export function referenceOf(node: ts.Expression, checker: ts.TypeChecker, environment: Environment): ToolReference | undefined {
  if (ts.isIdentifier(node) && node.parent !== undefined && isInType(node)) return undefined;
  const symbol = symbolOf(node, checker);
  // Most names stand for data. The type of the name is at hand; that of the place has to be worked out along the flow.
  if (symbol !== undefined && !ts.isElementAccessExpression(node) && isData(checker.getTypeOfSymbol(symbol), environment)) return undefined;
  const module = checker.getTypeAtLocation(node).symbol as ts.Symbol | undefined;
  // By its type too: a tool taken out of its namespace by a pattern has a name of the program's own.
  const tool = (symbol === undefined ? undefined : toolOfSymbol(symbol, environment)) ?? (module === undefined ? undefined : toolOfSymbol(module, environment));
  if (tool !== undefined) return { kind: "tool", tool };
  if (module === undefined || (module.flags & ts.SymbolFlags.ValueModule) === 0) return undefined;
  const declaration = module.declarations?.find((item) => ts.isModuleDeclaration(item));
  if (declaration === undefined) return undefined;
  const known = environment.namespaceOf(declaration.getSourceFile());
  if (known !== undefined) return { kind: "namespace", known };
  return declaration.getSourceFile() === environment.indexFile ? { kind: "tools" } : undefined;
}

const primitive = ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike | ts.TypeFlags.BooleanLike | ts.TypeFlags.ESSymbolLike | ts.TypeFlags.Null | ts.TypeFlags.Undefined | ts.TypeFlags.Void;

/** Whether a name of this type is neither `tools`, a namespace nor a tool, whatever the flow made of it. */
function isData(type: ts.Type, environment: Environment): boolean {
  if ((type.flags & primitive) !== 0) return true;
  const file = (type.flags & ts.TypeFlags.Object) === 0 || type.symbol === undefined ? undefined : type.symbol.declarations?.[0]?.getSourceFile();
  return file !== undefined && file !== environment.indexFile && environment.namespaceOf(file) === undefined;
}

function symbolOf(node: ts.Expression, checker: ts.TypeChecker): ts.Symbol | undefined {
  const symbol = checker.getSymbolAtLocation(ts.isElementAccessExpression(node) ? node.argumentExpression : node);
  return symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol;
}

function toolOfSymbol(symbol: ts.Symbol, environment: Environment): KnownTool | undefined {
  const [declaration] = symbol.declarations ?? [];
  const known = declaration === undefined || isMemberOfTool(declaration) ? undefined : environment.namespaceOf(declaration.getSourceFile());
  const effect = known?.tools.get(symbol.name);
  return known === undefined || effect === undefined ? undefined : { name: `${known.namespace}.${symbol.name}`, effect };
}

/** By the signature that is called, so that `const f = tools.a.b; f()` is a call of it. */
function calledTool(node: ts.CallExpression, checker: ts.TypeChecker, environment: Environment): KnownTool | undefined {
  let at: ts.Node | undefined = checker.getResolvedSignature(node)?.declaration;
  if (at === undefined) {
    const reference = referenceOf(bare(node.expression), checker, environment);
    return reference?.kind === "tool" ? reference.tool : undefined;
  }
  const known = environment.namespaceOf(at.getSourceFile());
  if (known === undefined) return undefined;
  while (at !== undefined && !(ts.isModuleBlock(at.parent) || ts.isVariableDeclaration(at))) at = at.parent;
  if (at !== undefined && isMemberOfTool(at)) return undefined;
  const name = at !== undefined && (ts.isFunctionDeclaration(at) || ts.isVariableDeclaration(at)) && at.name !== undefined && ts.isIdentifier(at.name) ? at.name.text : undefined;
  const effect = name === undefined ? undefined : known.tools.get(name);
  return name === undefined || effect === undefined ? undefined : { name: `${known.namespace}.${name}`, effect };
}

/** What belongs to a tool (`pages`) stands in a namespace of its own, and is no tool of that name. */
function isMemberOfTool(declaration: ts.Node): boolean {
  const { parent } = declaration;
  return parent !== undefined && ts.isModuleBlock(parent) && !ts.isStringLiteral(parent.parent.name);
}

/** The name of something that is declared or the member of an access: looked at with what it belongs to. */
function isName(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  if (ts.isBindingElement(parent)) return parent.initializer !== node;
  return (ts.isVariableDeclaration(parent) && parent.name === node) || (ts.isPropertyAssignment(parent) && parent.name === node) || ts.isImportSpecifier(parent) || ts.isNamespaceImport(parent) || ts.isParameter(parent);
}

/** What becomes of `tools` or a namespace is seen elsewhere: a member is taken by name, or it gets another name. */
function isFollowed(node: ts.Expression): boolean {
  let at: ts.Node = node;
  while (ts.isParenthesizedExpression(at.parent)) at = at.parent;
  const { parent } = at;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === at;
  if (ts.isElementAccessExpression(parent)) return parent.expression === at && ts.isStringLiteralLike(parent.argumentExpression);
  if (ts.isTypeOfExpression(parent)) return true;
  if (!ts.isVariableDeclaration(parent) || parent.initializer !== at || parent.type !== undefined || (parent.parent.flags & ts.NodeFlags.Const) === 0) return false;
  return ts.isIdentifier(parent.name) || (ts.isObjectBindingPattern(parent.name) && parent.name.elements.every((element) => element.dotDotDotToken === undefined && !(element.propertyName !== undefined && ts.isComputedPropertyName(element.propertyName))));
}

function isGlobal(node: ts.Identifier, checker: ts.TypeChecker, file: ts.SourceFile): boolean {
  if (isName(node) || isInType(node)) return false;
  const declarations = checker.getSymbolAtLocation(node)?.declarations;
  return declarations === undefined || declarations.every((declaration) => declaration.getSourceFile() !== file);
}

interface Found {
  readonly named: readonly { readonly tool: KnownTool }[];
  readonly possible: ReadonlySet<KnownNamespace>;
  readonly everything: boolean;
}

function reachIn({ named, possible, everything }: Found, environment: Environment): Reach {
  const spaces = everything ? [...environment.namespaces.values()] : [...possible];
  const tools: KnownTool[] = [...named.map(({ tool }) => tool), ...spaces.flatMap((known) => [...known.tools].map(([name, effect]) => ({ name: `${known.namespace}.${name}`, effect })))];
  return reachOf({ tools, everything });
}
