import type { SyntaxNode } from "@lezer/common";
import { nearest, didYouMean } from "@callgate/runtime/check-parts";
import type { Said } from "@callgate/runtime/check-parts";
import type { Environment, KnownNamespace, KnownTool } from "./environment.ts";
import type { ImportedName } from "./imports.ts";
import { calleeOf, textOf } from "./python-tree.ts";
import type { PythonTree } from "./python-tree.ts";

/** A module of functions that programs can import beside tools. */
export interface FunctionModule {
  readonly module: string;
  readonly text: string;
}

/** The text without decorators that keep what they remember, and hide what a function takes from who checks types. */
export function withoutWrappers(text: string): string {
  return text.replaceAll(/^@(?:functools\.)?(?:lru_cache|cache)\b(?:\([^()\n]*\))?[ \t]*$/gm, "");
}

/** What a program is, as far as it takes functions out of such modules. */
export interface FunctionUse {
  readonly tree: PythonTree;
  readonly imports: readonly ImportedName[];
  readonly environment: Environment;
}

/** The function of such a module that is called. */
export function calledFunction(call: SyntaxNode, { tree, imports, environment }: FunctionUse): KnownTool | undefined {
  const callee = calleeOf(call);
  if (callee?.name === "VariableName") {
    const found = imports.find(({ local, member }) => member !== undefined && local === textOf(callee, tree));
    return found?.member === undefined ? undefined : environment.functions.get(found.module)?.tools.get(found.member);
  }
  const [owner, member] = callee?.name === "MemberExpression" ? [callee.firstChild, callee.getChild("PropertyName")] : [];
  return owner && member ? moduleAt(owner, { tree, imports, environment })?.tools.get(textOf(member, tree)) : undefined;
}

/** What to say where such a module has no such name. */
export function missingFunction(node: SyntaxNode, use: FunctionUse): Said | undefined {
  const found = use.imports.find(({ memberOffset, member }) => memberOffset === node.from && member !== undefined);
  const owner = node.parent?.firstChild;
  const known = found !== undefined ? use.environment.functions.get(found.module) : owner ? moduleAt(owner, use) : undefined;
  if (known === undefined) return undefined;
  const name = textOf(node, use.tree);
  const members = [...known.tools.keys(), ...known.types.keys()];
  const near = nearest(name, members).names;
  const only = near[0] === undefined ? undefined : known.tools.get(near[0])?.declaration;
  const others = near.length > 0 ? didYouMean(near) : `; there are: ${members.slice(0, 12).join(", ")}${members.length > 12 ? ", …" : ""}`;
  return { message: `There is no ${name} in ${known.namespace}${others}`, ...(near.length > 0 ? { suggestions: near } : {}), ...(only === undefined ? {} : { declaration: only }) };
}

function moduleAt(node: SyntaxNode, { tree, imports, environment }: FunctionUse): KnownNamespace | undefined {
  const found = imports.find(({ local, member }) => member === undefined && local === textOf(node, tree));
  return found === undefined ? undefined : environment.functions.get(found.module);
}
