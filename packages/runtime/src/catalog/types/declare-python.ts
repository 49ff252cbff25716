import { clip } from "./schema-doc.ts";
import { namespaceTypes } from "./tool-types.ts";
import type { DeclaredTool, NamespaceTypes, ToolTypes } from "./tool-types.ts";
import { pascal } from "./type-names.ts";
import type { TypeNames } from "./type-names.ts";
import { unionOf } from "./type-node.ts";
import type { ObjectNode, PropertyNode, TypeNode } from "./type-node.ts";

/** Printing state of one stub: classes made for objects, in the order they must appear. */
interface Stub {
  readonly names: TypeNames;
  readonly classes: string[];
}

/**
 * A namespace as the stub of `tools.<namespace>`: typed, and valid Python as it stands.
 *
 * Each tool is a synchronous function of keyword-only arguments. Objects are `TypedDict`s; properties that Python cannot
 * spell use the functional form, and arguments that it cannot spell are passed as `**{"from": ...}`. Where Python has no
 * word for a type (an intersection that is no plain object, keys by pattern) the wider one is said.
 */
export function declarePython(namespace: string, tools: readonly DeclaredTool[]): string {
  const types = namespaceTypes(tools);
  const stub: Stub = { names: types.names, classes: [] };
  const named = types.named.map(({ name, type }) => namedType(name, type, stub));
  const functions = types.tools.map((tool) => printFunction(tool, types, stub));
  const iterators = types.tools.some(({ paged }) => paged) ? "from collections.abc import AsyncIterator, Iterator\n" : "";
  const head = `"""Tools of the namespace ${namespace}."""\n\nfrom __future__ import annotations\n\n${iterators}from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Union\n`;
  const parts = [head, ...stub.classes, ...named.filter((text) => text !== ""), ...functions];
  return parts.join("\n\n");
}

function namedType(name: string, type: TypeNode, stub: Stub): string {
  if (type.kind === "object" && type.indexes.length === 0 && type.properties.length > 0) {
    addClass(name, type, stub);
    return "";
  }
  return `${name}: TypeAlias = ${quotePython(printPython(type, name, stub))}\n`;
}

function printFunction(tool: ToolTypes, types: NamespaceTypes, stub: Stub): string {
  const scope = pascal(tool.member);
  const byName = new Map(types.named.map(({ name, type }) => [name, type]));
  const parameters = parametersOf(flatten(tool.input, byName, 0), `${scope}Input`, stub);
  const paged = tool.paged ? flatten(tool.output ?? { kind: "unknown" }, byName, 0) : undefined;
  if (paged !== undefined) return printPaged(tool, { output: paged, parameters, stub });
  const returned = tool.output ?? tool.learned;
  const output = returned === undefined ? "Any" : printPython(returned, `${scope}Output`, stub);
  const list = parameters.length === 0 ? "" : parameters.join(", ");
  return `def ${tool.member}(${list}) -> ${output}:\n${docstring(tool)}    ...\n`;
}

interface PagedParts {
  readonly output: ObjectNode;
  readonly parameters: readonly string[];
  readonly stub: Stub;
}

/** A function has no members in Python's types: a paged tool is an object that can be called. */
function printPaged(tool: ToolTypes, { output, parameters, stub }: PagedParts): string {
  const scope = pascal(tool.member);
  const page = printPython(output.properties.find(({ name }) => name === "page")?.type ?? { kind: "unknown" }, `${scope}Page`, stub);
  const whole = printPython({ ...output, properties: output.properties.map((property) => (property.name === "page" ? { ...property, type: { kind: "name" as const, name: page, width: page.length } } : property)) }, `${scope}Output`, stub);
  const kind = stub.names.claim(`${scope}Tool`);
  const list = ["self", ...parameters].join(", ");
  return `class ${kind}:\n    def __call__(${list}) -> ${whole}:\n${docstring(tool).replace(/^(?=.)/gm, "    ")}        ...\n\n    def pages(${list}) -> Iterator[${page}]: ...\n\n\n${tool.member}: ${kind}\n`;
}

function parametersOf(object: ObjectNode | undefined, hint: string, stub: Stub): string[] {
  if (object === undefined) return ["**arguments: object"];
  const spelled = object.properties.filter(({ name }) => isPythonName(name));
  const [required, optional] = [spelled.filter((property) => !property.optional), spelled.filter((property) => property.optional)];
  const print = ({ name, type }: PropertyNode): string => `${name}: ${printPython(type, `${hint}${pascal(name)}`, stub)}`;
  const keyword = [...required.map(print), ...optional.map((property) => `${print(property)} = ...`)];
  const others = spelled.length < object.properties.length || object.indexes.length > 0 ? [`**${freeName("more", spelled)}: object`] : [];
  return [...(keyword.length > 0 ? ["*"] : []), ...keyword, ...others];
}

function freeName(wanted: string, taken: readonly PropertyNode[]): string {
  return taken.some(({ name }) => name === wanted) ? freeName(`${wanted}_`, taken) : wanted;
}

/** One object that says at least what the type says, so that its properties can be keyword arguments. */
function flatten(type: TypeNode, byName: ReadonlyMap<string, TypeNode>, depth: number): ObjectNode | undefined {
  if (depth > 20) return undefined;
  if (type.kind === "object") return type;
  if (type.kind === "name") return flatten(byName.get(type.name) ?? { kind: "unknown" }, byName, depth + 1);
  if (type.kind !== "union" && type.kind !== "intersection") return undefined;
  const members = type.members.map((member) => flatten(member, byName, depth + 1));
  const objects = members.filter((member) => member !== undefined);
  if (objects.length < members.length) return undefined;
  const names = [...new Set(objects.flatMap(({ properties }) => properties.map(({ name }) => name)))];
  const isUnion = type.kind === "union";
  const properties = names.map((name): PropertyNode => {
    const found = objects.flatMap((object) => object.properties.filter((property) => property.name === name));
    const optional = isUnion ? found.length < objects.length || found.some((property) => property.optional) : found.every((property) => property.optional);
    const known = isUnion ? found.map((property) => property.type) : found.slice(0, 1).map((property) => property.type);
    return { name, optional, type: unionOf(known), doc: found[0]?.doc ?? [] };
  });
  return { kind: "object", properties, indexes: objects.flatMap(({ indexes }) => indexes), closed: false };
}

/** A type expression. Objects become classes of the stub, named after where they are. */
function printPython(type: TypeNode, hint: string, stub: Stub): string {
  switch (type.kind) {
    case "unknown":
    case "intersection":
      // Not `object`, whose every member would be an error: nine of ten tools declare no output (docs/decisions/0009).
      return "Any";
    case "never":
    case "null":
      return "None";
    case "boolean":
      return "bool";
    case "integer":
      return "int";
    case "number":
      return "float";
    case "string":
      return "str";
    case "literal":
      return printLiteral(type.value);
    case "name":
      return type.name;
    case "array":
      return `list[${printPython(type.items, `${hint}Item`, stub)}]`;
    case "tuple":
      return `list[${printPython(unionOf([...type.items.map((item) => item.type), ...(type.rest === undefined ? [] : [type.rest])]), `${hint}Item`, stub)}]`;
    case "object":
      return printObject(type, hint, stub);
    case "union":
      return printUnion(type.members, hint, stub);
  }
}

/** One `Literal` for all values it can hold, so that an enum reads as one. */
function printUnion(members: readonly TypeNode[], hint: string, stub: Stub): string {
  const printed = new Set(members.map((member, index) => printPython(member, `${hint}${index + 1}`, stub)));
  const literals = [...printed].filter((text) => text.startsWith("Literal["));
  const others = [...printed].filter((text) => !text.startsWith("Literal["));
  const literal = literals.length === 0 ? [] : [`Literal[${literals.map((text) => text.slice("Literal[".length, -1)).join(", ")}]`];
  const all = [...literal, ...others];
  return all.length === 1 ? all.join("") : `Union[${all.join(", ")}]`;
}

function printLiteral(value: string | number | boolean): string {
  if (typeof value === "string") return `Literal[${quotePython(value)}]`;
  if (typeof value === "boolean") return `Literal[${value ? "True" : "False"}]`;
  return Number.isSafeInteger(value) ? `Literal[${value}]` : "float";
}

function printObject(type: ObjectNode, hint: string, stub: Stub): string {
  if (type.properties.length === 0 || type.indexes.length > 0) {
    const values = unionOf([...type.indexes.map((index) => index.type), ...type.properties.map((property) => property.type)]);
    return `dict[str, ${type.indexes.length === 0 ? "Any" : printPython(values, `${hint}Value`, stub)}]`;
  }
  const name = stub.names.claim(hint);
  addClass(name, type, stub);
  return name;
}

function addClass(name: string, type: ObjectNode, stub: Stub): void {
  const fields = type.properties.map((property) => {
    const text = printPython(property.type, `${name}${pascal(property.name)}`, stub);
    return { property, text: property.optional ? `NotRequired[${text}]` : text };
  });
  const usesFunctional = fields.some(({ property }) => !isPythonName(property.name) || property.name.startsWith("__"));
  if (usesFunctional) {
    const entries = fields.map(({ property, text }) => `    ${quotePython(property.name)}: ${quotePython(text)},\n`);
    stub.classes.push(`${name} = TypedDict(${quotePython(name)}, {\n${entries.join("")}})\n`);
    return;
  }
  const lines = fields.map(({ property, text }) => `${comments(property)}    ${property.name}: ${text}\n`);
  stub.classes.push(`class ${name}(TypedDict):\n${lines.join("")}`);
}

function comments({ doc }: PropertyNode): string {
  return doc.map((line) => `    # ${line}`.trimEnd() + "\n").join("");
}

function isPythonName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !pythonKeywords.has(name);
}

const pythonKeywords: ReadonlySet<string> = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(" "),
);

/** A Python string literal in ASCII; JSON's escapes are Python's, but for the pairs of characters outside the basic plane. */
function quotePython(text: string): string {
  return `"${Array.from(text, escapeCharacter).join("")}"`;
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === '"' || character === "\\") return `\\${character}`;
  if (code >= 0x20 && code < 0x7f) return character;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

function docstring(tool: ToolTypes): string {
  const parameters = tool.input.kind === "object" ? tool.input.properties.filter(({ doc }) => doc.length > 0).map(({ name, doc }) => `${name}: ${clip(doc.join(" ").replace(/@(\w+) /g, "$1: "), 300)}`) : [];
  const lines = [...tool.doc.map((line) => line.replace(/^@(\w+)/, "$1:")), ...(parameters.length > 0 ? ["", ...parameters] : [])];
  const text = lines.map((line) => `    ${line.replace(/\\/g, "\\\\").replace(/"""/g, '\\"\\"\\"')}`.trimEnd()).join("\n");
  return `    """${text.trimStart()}\n    """\n`;
}
