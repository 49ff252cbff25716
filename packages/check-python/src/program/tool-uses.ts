import type { Reach } from "@callgate/contract";
import type { SyntaxNode } from "@lezer/common";
import { reachOf } from "@callgate/runtime/check-parts";
import type { Environment, KnownNamespace, KnownTool } from "./environment.ts";
import type { ImportedName } from "./imports.ts";
import { calleeOf, childrenOf, isKeyword, textOf } from "./python-tree.ts";
import type { PythonTree } from "./python-tree.ts";

/** What an expression stands for. */
export type ToolReference = { readonly kind: "tools" | "aio" } | { readonly kind: "namespace"; readonly known: KnownNamespace; readonly isAsync: boolean } | { readonly kind: "tool"; readonly tool: KnownTool; readonly isAsync: boolean };

export interface ToolCall {
  readonly node: SyntaxNode;
  readonly tool: KnownTool;
  readonly isAsync: boolean;
}

/** What a program does with tools, as far as its text tells. */
export interface ToolUses {
  readonly calls: readonly ToolCall[];
  readonly named: readonly { readonly node: SyntaxNode; readonly tool: KnownTool }[];
  readonly reach: Reach;
  /** Why `reach` is wider than what is named; the first place. */
  readonly dynamic: SyntaxNode | undefined;
  referenceOf(node: SyntaxNode): ToolReference | undefined;
}

/** Ways to code or objects that no text shows. */
const escapes: ReadonlySet<string> = new Set([
  ..."eval exec compile __import__ globals locals vars importlib runpy builtins __builtins__ ctypes gc inspect pickle marshal codeop pkgutil".split(" "),
  ..."__globals__ __dict__ __subclasses__ __getattribute__ __loader__ __spec__ __mro__ __bases__ f_globals f_locals f_back gi_frame tb_frame cr_frame".split(" "),
]);

interface Scope {
  readonly tree: PythonTree;
  readonly environment: Environment;
  /** By the name in the program. Which block it is bound in does not count: a name means a tool wherever it could. */
  readonly bindings: Map<string, ToolReference>;
}

export function findToolUses(tree: PythonTree, imports: readonly ImportedName[], environment: Environment): ToolUses {
  const scope: Scope = { tree, environment, bindings: new Map() };
  const named: { node: SyntaxNode; tool: KnownTool }[] = [];
  const possible = new Set<KnownNamespace>();
  let dynamic: SyntaxNode | undefined;
  let everything = false;
  const escape = (node: SyntaxNode, known?: KnownNamespace): void => {
    dynamic ??= node;
    if (known === undefined) everything = true;
    else possible.add(known);
  };
  if (!bindImports(imports, scope) || !bindAliases(scope)) escape(tree.imports[0] ?? tree.top);
  for (const name of tree.names) {
    if (escapes.has(textOf(name, tree)) && !isKeyword(name)) escape(name);
    if (textOf(name, tree) === "modules") escape(name);
    if (name.name !== "VariableName" || isBinding(name)) continue;
    const { node, reference } = widest(name, scope);
    if (reference === undefined) continue;
    if (reference.kind === "tool") named.push({ node, tool: reference.tool });
    else if (!isFollowed(node)) escape(node, reference.kind === "namespace" ? reference.known : undefined);
  }
  const calls = tree.calls.flatMap((node): ToolCall[] => {
    const callee = calleeOf(node);
    const reference = callee === undefined ? undefined : referenceOf(callee, scope);
    return reference?.kind === "tool" ? [{ node, tool: reference.tool, isAsync: reference.isAsync }] : [];
  });
  return { calls, named, dynamic, reach: reachIn({ named, possible, everything }, environment), referenceOf: (node) => referenceOf(node, scope) };
}

/** False when an import hides which names it brings. */
function bindImports(imports: readonly ImportedName[], { bindings, environment }: Scope): boolean {
  let isClear = true;
  for (const { module, member, local, isRenamed } of imports) {
    const path = module.split(".");
    if (path[0] !== "tools") continue;
    if (member === "*") isClear = false;
    const whole = [...path.slice(1), ...(member === undefined ? [] : [member])];
    const named = member === undefined && !isRenamed ? [] : whole;
    const reference = named.reduce<ToolReference | undefined>((at, name) => (at === undefined ? undefined : memberOf(at, name, environment)), { kind: "tools" });
    if (reference !== undefined) bindings.set(local, reference);
  }
  return isClear;
}

/** `gh = tools.github`; false when one name stands for two things. */
function bindAliases(scope: Scope): boolean {
  const { bindings, tree } = scope;
  let isClear = true;
  for (let round = 0, before = -1; round < 5 && before !== bindings.size; round++) {
    before = bindings.size;
    for (const statement of tree.assignments) {
      const [target, operator, value, ...more] = childrenOf(statement);
      if (target?.name !== "VariableName" || operator?.name !== "AssignOp" || value === undefined || more.length > 0) continue;
      const reference = referenceOf(value, scope);
      if (reference === undefined) continue;
      const name = textOf(target, tree);
      const known = bindings.get(name);
      if (known !== undefined && nameOf(known) !== nameOf(reference)) isClear = false;
      bindings.set(name, known ?? reference);
    }
  }
  return isClear;
}

function nameOf(reference: ToolReference): string {
  if (reference.kind === "tool") return reference.tool.name;
  return reference.kind === "namespace" ? `${reference.known.namespace}.` : reference.kind;
}

function memberOf(reference: ToolReference, name: string, { namespaces }: Environment): ToolReference | undefined {
  if (reference.kind === "tool") return undefined;
  if (reference.kind === "namespace") {
    const tool = reference.known.tools.get(name);
    return tool === undefined ? undefined : { kind: "tool", tool, isAsync: reference.isAsync };
  }
  if (reference.kind === "tools" && name === "aio") return { kind: "aio" };
  const known = namespaces.get(name);
  return known === undefined ? undefined : { kind: "namespace", known, isAsync: reference.kind === "aio" };
}

function referenceOf(node: SyntaxNode, scope: Scope): ToolReference | undefined {
  // A chain is as long as the text; walked outwards, not by recursion.
  const members: string[] = [];
  let at: SyntaxNode | null = node;
  while (at !== null && at.name !== "VariableName") {
    if (at.name === "ParenthesizedExpression") at = at.getChild("(")?.nextSibling ?? null;
    else {
      const member: SyntaxNode | null = at.name === "MemberExpression" ? at.getChild("PropertyName") : null;
      if (member === null) return undefined;
      members.unshift(textOf(member, scope.tree));
      at = at.firstChild;
    }
  }
  if (at === null) return undefined;
  return members.reduce<ToolReference | undefined>((reference, name) => (reference === undefined ? undefined : memberOf(reference, name, scope.environment)), scope.bindings.get(textOf(at, scope.tree)));
}

/** The longest chain of members that starts at a name and still stands for something of tools. */
function widest(name: SyntaxNode, scope: Scope): { readonly node: SyntaxNode; readonly reference: ToolReference | undefined } {
  let node = name;
  let reference = scope.bindings.get(textOf(name, scope.tree));
  while (reference !== undefined && reference.kind !== "tool" && node.parent?.name === "MemberExpression" && node.parent.firstChild?.from === node.from) {
    const member = node.parent.getChild("PropertyName");
    const next = member === null ? undefined : memberOf(reference, textOf(member, scope.tree), scope.environment);
    if (next === undefined) break;
    node = node.parent;
    reference = next;
  }
  return { node, reference };
}

/** A name that is given here, not used. */
function isBinding(name: SyntaxNode): boolean {
  const parent = name.parent?.name;
  if (parent === "ImportStatement" || parent === "ParamList" || isKeyword(name)) return true;
  return parent === "AssignStatement" && name.parent?.firstChild?.from === name.from;
}

/** What becomes of `tools` or a namespace is seen elsewhere: a member is taken by name, or it gets another name. */
function isFollowed(node: SyntaxNode): boolean {
  const { parent } = node;
  if (parent?.name === "MemberExpression") return parent.getChild("PropertyName") !== null;
  if (parent?.name === "ExpressionStatement") return true;
  return parent?.name === "AssignStatement" && childrenOf(parent).length === 3 && parent.firstChild?.name === "VariableName";
}

interface Found {
  readonly named: readonly { readonly tool: KnownTool }[];
  readonly possible: ReadonlySet<KnownNamespace>;
  readonly everything: boolean;
}

function reachIn({ named, possible, everything }: Found, environment: Environment): Reach {
  const spaces = everything ? [...environment.namespaces.values()] : [...possible];
  const tools = [...named.map(({ tool }) => tool), ...spaces.flatMap(({ tools }) => [...tools.values()])];
  return reachOf({ tools, everything });
}
