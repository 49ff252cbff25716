import type { SyntaxNode } from "@lezer/common";
import { didYouMean, nearest } from "@callgate/runtime/check-parts";
import type { Said } from "@callgate/runtime/check-parts";
import type { PyrightFinding } from "../server/language-server.ts";
import { calledFunction, missingFunction } from "./function-module.ts";
import type { Environment, KnownTool } from "./environment.ts";
import type { ImportedName } from "./imports.ts";
import { around, textOf } from "./python-tree.ts";
import type { PythonTree } from "./python-tree.ts";
import type { ToolReference, ToolUses } from "./tool-uses.ts";

/** All that is known of a program when its findings are put into words. */
export interface Explaining {
  readonly tree: PythonTree;
  readonly environment: Environment;
  readonly imports: readonly ImportedName[];
  readonly uses: ToolUses;
}

/** A finding of pyright and what stands at its place. */
export interface Place {
  readonly offset: number;
  readonly node: SyntaxNode;
  /** The tool, or function of a module of ours, whose call (its callee or arguments) the place is in. */
  readonly tool: KnownTool | undefined;
  readonly isFunction: boolean;
}

export function placeAt(offset: number, known: Explaining): Place {
  const node = known.tree.top.resolveInner(offset, 1);
  const call = around(node, ["CallExpression"]);
  if (call === undefined) return { offset, node, tool: undefined, isFunction: false };
  const tool = known.uses.calls.find(({ node: { from, to } }) => from === call.from && to === call.to)?.tool;
  const ours = tool === undefined ? calledFunction(call, known) : undefined;
  return { offset, node, tool: tool ?? ours, isFunction: ours !== undefined };
}

/** What to say of a finding: pyright's words, unless the tools' declarations know better ones. */
export function explain(finding: PyrightFinding, place: Place, known: Explaining): Said {
  const { message } = finding;
  if (message.includes("CoroutineType[") || finding.code === "reportUnusedCoroutine") return usesAio(known) ? { message: "A call of tools.aio gives its result only when awaited: write await before it, or use the same tool of tools, which needs no await", suggestions: ["await"] } : { message: "An async function gives its result only when awaited: write await before the call", suggestions: ["await"] };
  if (finding.code === "reportUndefinedVariable") return undefinedName(place, known);
  return missingMember(finding, place, known) ?? wrongArgument(message, place) ?? wrongField(message, known) ?? { message: plain(message), ...(place.tool === undefined ? {} : { declaration: place.tool.declaration }) };
}

function usesAio({ imports }: Explaining): boolean {
  return imports.some(({ module, member }) => module === "tools" ? member === undefined || member === "aio" : module.startsWith("tools.aio"));
}

/** Words of other languages that models write in Python. */
const otherWords: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None", undefined: "None", console: "print", JSON: "json" };

function undefinedName({ node }: Place, { tree, environment }: Explaining): Said {
  const name = textOf(node, tree);
  const other = Object.hasOwn(otherWords, name) ? otherWords[name] : undefined;
  if (other !== undefined) return { message: `${name} is not a word of Python; write ${other}`, suggestions: [other] };
  const away = environment.unavailable.get(name);
  if (away !== undefined) return { code: "SOURCE_UNAVAILABLE", message: away };
  if (environment.namespaces.has(name)) return { message: `${name} is a namespace of tools; import it first: from tools import ${name}`, suggestions: [`from tools import ${name}`] };
  if (name === "tools" || environment.modules.has(name)) return { message: `${name} is a module; import it first: import ${name}`, suggestions: [`import ${name}`] };
  const given = tree.names.filter((found) => found.name === "VariableName" && found.from !== node.from).map((found) => textOf(found, tree));
  const near = nearest(name, new Set([...given.filter((found) => found !== name), ...environment.namespaces.keys(), ...builtinNames])).names;
  return { message: `${name} is not defined${didYouMean(near)}`, ...(near.length > 0 ? { suggestions: near } : {}) };
}

const builtinNames = "abs all any bool bytes dict dir divmod enumerate filter float format frozenset getattr hasattr hash hex int isinstance iter len list map max min next object open ord pow print range repr reversed round set setattr slice sorted str sum super tuple type zip Exception ValueError KeyError TypeError text progress results ToolError".split(" ");

/** A tool or namespace that is not there. */
function missingMember({ message, code }: PyrightFinding, { node }: Place, known: Explaining): Said | undefined {
  if (code !== "reportAttributeAccessIssue" || !/is unknown import symbol|is not a known attribute of module/.test(message)) return undefined;
  const name = textOf(node, known.tree);
  const owner = node.parent?.name === "ImportStatement" ? ownerOfImport(node, known) : node.parent?.firstChild === null || node.parent === null ? undefined : known.uses.referenceOf(node.parent.firstChild);
  if (owner === undefined) return missingFunction(node, known);
  if (owner.kind === "tool") return undefined;
  const away = owner.kind === "namespace" ? undefined : known.environment.unavailable.get(name);
  if (away !== undefined) return { code: "SOURCE_UNAVAILABLE", message: away };
  const here = owner.kind === "namespace" ? owner.known.namespace : owner.kind === "aio" ? "tools.aio" : "tools";
  const members = owner.kind === "namespace" ? [...owner.known.tools.keys()] : [...known.environment.namespaces.keys()];
  const near = nearest(name, members).names;
  const elsewhere = near.length > 0 ? [] : [...known.environment.namespaces.values()].flatMap(({ namespace, tools }) => (tools.has(name) ? [`${namespace}.${name}`] : []));
  const suggestions = near.length > 0 ? near : elsewhere;
  const only = suggestions[0] === undefined || owner.kind !== "namespace" ? undefined : owner.known.tools.get(suggestions[0])?.declaration;
  const others = suggestions.length > 0 ? didYouMean(suggestions) : `; there are: ${members.slice(0, 12).join(", ")}${members.length > 12 ? ", …" : ""}`;
  return { message: `There is no ${owner.kind === "namespace" ? "tool" : "namespace"} ${name} in ${here}${others}`, ...(suggestions.length > 0 ? { suggestions } : {}), ...(only === undefined ? {} : { declaration: only }) };
}

function ownerOfImport(node: SyntaxNode, { imports, environment }: Explaining): ToolReference | undefined {
  const found = imports.find(({ memberOffset, member }) => memberOffset === node.from && member !== undefined);
  const [root, ...path] = found?.module.split(".") ?? [];
  if (root !== "tools") return undefined;
  const isAsync = path[0] === "aio";
  const space = isAsync ? path[1] : path[0];
  if (space === undefined) return { kind: isAsync ? "aio" : "tools" };
  const known = environment.namespaces.get(space);
  return known === undefined ? undefined : { kind: "namespace", known, isAsync };
}

function wrongArgument(message: string, { tool, isFunction }: Place): Said | undefined {
  if (tool === undefined) return undefined;
  const { declaration, name, parameters } = tool;
  const unknown = /^No parameter named "(.+)"/.exec(message)?.[1];
  if (unknown !== undefined) {
    const near = nearest(unknown, parameters).names;
    const others = near.length > 0 ? didYouMean(near) : `; it takes ${parameters.join(", ") || "none"}`;
    return { message: `${name} has no argument ${unknown}${others}`, declaration, ...(near.length > 0 ? { suggestions: near } : {}) };
  }
  const missing = /^Arguments? missing for parameters? (.+)/.exec(message)?.[1];
  if (missing !== undefined) return { message: `${name} needs the argument ${missing.replaceAll('"', "")}`, declaration };
  if (/^Expected \d+ positional argument/.test(message)) return isFunction ? { message: `${name} takes fewer arguments by place: it is ${declaration}`, declaration } : { message: `Arguments of tools are passed by name: ${name}(${parameters.slice(0, 3).map((parameter) => `${parameter}=…`).join(", ")})`, declaration };
  const typed = /^Argument of type "(.+)" cannot be assigned to parameter "(\w+)" of type "(.+)" in function/s.exec(message);
  if (typed === null) return undefined;
  return { message: `${name}: the argument ${typed[2] ?? ""} must be ${plainType(typed[3] ?? "")}, not ${plainType(typed[1] ?? "")}`, declaration };
}

/** `Literal['a', 'b']` in words. */
function plainType(type: string): string {
  const values = /^Literal\[(.*)\]$/s.exec(type)?.[1];
  if (values === undefined) return type;
  return values.includes(", ") ? `one of ${values}` : values;
}

/** A field that a result has not got, or that is read like an attribute. */
function wrongField(message: string, { environment }: Explaining): Said | undefined {
  const key = /"(.+?)" is not a (?:defined|required) key in "(\w+)"/.exec(message);
  const attribute = /Cannot access attribute "(\w+)" for class "(\w+)"/.exec(message);
  const [, field, type] = key ?? attribute ?? [];
  if (field === undefined || type === undefined) return undefined;
  const known = [...environment.namespaces.values()].flatMap(({ types }) => types.get(type) ?? []).find(({ fields }) => key === null || !message.includes("not a required") || fields.includes(field));
  if (known === undefined) return undefined;
  const { declaration, fields } = known;
  if (key === null && fields.includes(field)) return { message: `A result is a dictionary: write ["${field}"], not .${field}`, suggestions: [`["${field}"]`], declaration };
  if (message.includes("is not a required key")) return { message: `The field ${field} may be missing: read it with .get("${field}")`, suggestions: [`.get("${field}")`], declaration };
  const near = nearest(field, fields).names;
  const others = near.length > 0 ? didYouMean(near) : `; it has ${fields.slice(0, 12).join(", ")}`;
  return { message: `The result has no field ${field}${others}`, declaration, ...(near.length > 0 ? { suggestions: near } : {}) };
}

/** The first two lines: the rest repeats them from the inside. */
function plain(message: string): string {
  return message.split("\n").slice(0, 2).map((line) => line.trim()).join(": ").slice(0, 500);
}
