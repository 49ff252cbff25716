import type { Effect } from "@callgate/contract";
import type { SyntaxNode } from "@lezer/common";
import { childrenOf, readTree, textOf } from "./python-tree.ts";
import type { PythonTree } from "./python-tree.ts";

export interface KnownTool {
  /** `namespace.tool` */
  readonly name: string;
  readonly effect: Effect;
  /** Its line in the stub, without the body. */
  readonly declaration: string;
  readonly parameters: readonly string[];
}

/** A class of a stub: fields of a result. */
export interface KnownType {
  readonly declaration: string;
  readonly fields: readonly string[];
}

export interface KnownNamespace {
  readonly namespace: string;
  readonly tools: ReadonlyMap<string, KnownTool>;
  readonly types: ReadonlyMap<string, KnownType>;
}

/** All that a program may use. */
export interface Environment {
  readonly namespaces: ReadonlyMap<string, KnownNamespace>;
  /** Modules of functions, which are no tools: nothing of them is reach. */
  readonly functions: ReadonlyMap<string, KnownNamespace>;
  /** Namespaces whose source cannot be reached, and what to say of them. */
  readonly unavailable: ReadonlyMap<string, string>;
  /** Roots of the modules that may be imported, `tools` left out. */
  readonly modules: ReadonlySet<string>;
}

const maxDeclarationChars = 600;

/** Reads the stub of a namespace, which the catalog's printer wrote. */
export function knownNamespace(namespace: string, stub: string, effects: ReadonlyMap<string, Effect>): KnownNamespace {
  const tree = readTree(stub);
  const tools = new Map<string, KnownTool>();
  const types = new Map<string, KnownType>();
  const classes = new Map<string, SyntaxNode>();
  const addTool = (member: string, definition: SyntaxNode): void => {
    const body = definition.getChild("Body");
    const parameters = definition.getChild("ParamList")?.getChildren("VariableName").map((parameter) => textOf(parameter, tree)).filter((parameter) => parameter !== "self") ?? [];
    tools.set(member, { name: `${namespace}.${member}`, effect: effects.get(member) ?? "write", declaration: clip(stub.slice(definition.from, body?.from ?? definition.to).replace("__call__(self, ", `${member}(`).replace("__call__(self)", `${member}()`)), parameters });
  };
  for (const node of childrenOf(tree.top)) {
    const name = node.getChild("VariableName");
    if (name === null) continue;
    const member = textOf(name, tree);
    if (node.name === "ClassDefinition") classes.set(member, node);
    if (node.name === "FunctionDefinition") addTool(member, node);
    // A paged tool is an object of a class, which says how it is called.
    else if (node.name === "AssignStatement" && effects.has(member)) addTool(member, callOf(classes.get(typeNameOf(node, tree)), tree) ?? node);
    else if (node.name === "ClassDefinition" || node.name === "AssignStatement") types.set(member, { declaration: clip(textOf(node, tree)), fields: fieldsOf(node, tree) });
  }
  return { namespace, tools, types };
}

/** `X` of `member: X`. */
function typeNameOf(node: SyntaxNode, tree: PythonTree): string {
  const type = node.getChild("TypeDef")?.getChild("VariableName");
  return type === null || type === undefined ? "" : textOf(type, tree);
}

function callOf(definition: SyntaxNode | undefined, tree: PythonTree): SyntaxNode | undefined {
  return definition?.getChild("Body")?.getChildren("FunctionDefinition").find((method) => textOf(method, tree).startsWith("def __call__("));
}

function fieldsOf(node: ReturnType<typeof childrenOf>[number], tree: PythonTree): string[] {
  if (node.name === "ClassDefinition") return (node.getChild("Body")?.getChildren("AssignStatement") ?? []).flatMap((field) => field.getChild("VariableName") ?? []).map((field) => textOf(field, tree));
  // `Name = TypedDict("Name", {"field": "type"})`: every other string of the dictionary is a field.
  const dictionary = node.getChild("CallExpression")?.getChild("ArgList")?.getChild("DictionaryExpression") ?? null;
  const strings = dictionary?.getChildren("String") ?? [];
  return strings.filter((_string, at) => at % 2 === 0).map((string) => textOf(string, tree).slice(1, -1));
}

function clip(text: string): string {
  const whole = text.trim();
  return whole.length > maxDeclarationChars ? `${whole.slice(0, maxDeclarationChars - 1)}…` : whole;
}
