import type { SyntaxNode, Tree } from "@lezer/common";
import { parser } from "@lezer/python";

/** A program as the parser reads it, with the nodes that anything looks for, in the order of the text. */
export interface PythonTree {
  readonly text: string;
  readonly top: SyntaxNode;
  readonly comments: readonly SyntaxNode[];
  readonly strings: readonly SyntaxNode[];
  readonly imports: readonly SyntaxNode[];
  readonly calls: readonly SyntaxNode[];
  readonly assignments: readonly SyntaxNode[];
  /** `VariableName` and `PropertyName`. */
  readonly names: readonly SyntaxNode[];
  readonly returns: readonly SyntaxNode[];
  /** Whether the parser found its way through all of it. */
  readonly isWhole: boolean;
}

/**
 * Reads a program. The parser is table driven and in JavaScript: linear time and no recursion, whatever the text, and it
 * always ends with a tree; syntax is judged by pyright.
 */
export function readTree(text: string): PythonTree {
  const tree: Tree = parser.parse(text);
  const found = { comments: [], strings: [], imports: [], calls: [], assignments: [], names: [], returns: [] } satisfies Record<string, SyntaxNode[]>;
  const lists: Readonly<Record<string, SyntaxNode[]>> = {
    Comment: found.comments,
    String: found.strings,
    FormatString: found.strings,
    ImportStatement: found.imports,
    CallExpression: found.calls,
    AssignStatement: found.assignments,
    UpdateStatement: found.assignments,
    VariableName: found.names,
    PropertyName: found.names,
    ReturnStatement: found.returns,
  };
  let isWhole = true;
  tree.iterate({
    enter(at) {
      if (at.type.isError) isWhole = false;
      lists[at.name]?.push(at.node);
    },
  });
  return { text, top: tree.topNode, ...found, isWhole };
}

export function textOf(node: SyntaxNode, { text }: PythonTree): string {
  return text.slice(node.from, node.to);
}

/** Children, keywords and punctuation included, comments left out. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let at = node.firstChild; at !== null; at = at.nextSibling) if (at.name !== "Comment") children.push(at);
  return children;
}

/** The nearest node around (or the node itself) of one of the given types. */
export function around(node: SyntaxNode | null, names: readonly string[]): SyntaxNode | undefined {
  for (let at = node; at !== null; at = at.parent) if (names.includes(at.name)) return at;
  return undefined;
}

/** Whether it stands in no function: there `await` and `async` work, because the guest allows them. */
export function isModuleLevel(node: SyntaxNode): boolean {
  return around(node, ["FunctionDefinition", "LambdaExpression", "ClassDefinition"]) === undefined;
}

export function isWithin(node: SyntaxNode, outer: SyntaxNode): boolean {
  return node.from >= outer.from && node.to <= outer.to;
}

/** `name=` of a call: no use of a variable of that name. */
export function isKeyword(node: SyntaxNode): boolean {
  return node.name === "VariableName" && node.parent?.name === "ArgList" && node.nextSibling?.name === "AssignOp";
}

/** Positional arguments and `name=value` pairs of a call. */
export function argumentsOf(call: SyntaxNode): { readonly keyword?: SyntaxNode; readonly value: SyntaxNode }[] {
  const list = call.getChild("ArgList");
  if (list === null) return [];
  const given: { keyword?: SyntaxNode; value: SyntaxNode }[] = [];
  for (const child of childrenOf(list)) {
    const before = child.prevSibling;
    if (["(", ")", ",", "AssignOp", "*", "**"].includes(child.name) || isKeyword(child)) continue;
    if (before?.name === "AssignOp" && before.prevSibling !== null) given.push({ keyword: before.prevSibling, value: child });
    else given.push({ value: child });
  }
  return given;
}

/** What is called. */
export function calleeOf(call: SyntaxNode): SyntaxNode | undefined {
  return call.firstChild ?? undefined;
}
