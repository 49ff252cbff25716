import { matchesKey, unionOf } from "./type-node.ts";
import type { KeyPattern, ObjectNode, PropertyNode, TypeNode } from "./type-node.ts";

export interface PrintOptions {
  /** Spaces before continuation lines; undefined prints everything in one line, without documentation. */
  readonly indent?: number;
  /** Objects nested deeper than this are printed as `{ … }`. Default no bound. */
  readonly maxDepth?: number;
}

/** A type as TypeScript. */
export function printTypeScript(type: TypeNode, options: PrintOptions = {}): string {
  switch (type.kind) {
    case "literal":
      return typeof type.value === "string" ? quote(type.value) : String(type.value);
    case "integer":
      return "number";
    case "name":
      return type.name;
    case "array":
      return `${wrap(type.items, options)}[]`;
    case "tuple":
      return printTuple(type, options);
    case "object":
      return printObject(type, options);
    case "union":
      return type.members.map((member) => (member.kind === "intersection" ? `(${printTypeScript(member, options)})` : printTypeScript(member, options))).join(" | ");
    case "intersection":
      return type.members.map((member) => (member.kind === "union" ? `(${printTypeScript(member, options)})` : printTypeScript(member, options))).join(" & ");
    case "unknown":
    case "never":
    case "null":
    case "boolean":
    case "number":
    case "string":
      return type.kind;
  }
}

/** An element type of an array: `(string | null)[]`, never `string | null[]`. */
function wrap(type: TypeNode, options: PrintOptions): string {
  const text = printTypeScript(type, options);
  return type.kind === "union" || type.kind === "intersection" ? `(${text})` : text;
}

function printTuple(type: Extract<TypeNode, { kind: "tuple" }>, options: PrintOptions): string {
  const items = type.items.map((item) => (item.optional ? `${wrap(item.type, options)}?` : printTypeScript(item.type, options)));
  if (type.rest !== undefined) items.push(`...${wrap(type.rest, options)}[]`);
  return `[${items.join(", ")}]`;
}

function printObject(type: ObjectNode, options: PrintOptions): string {
  const indexes = printableIndexes(type);
  if (type.properties.length === 0 && indexes.length === 0) return type.closed ? "{ [key: string]: never }" : "{ [key: string]: unknown }";
  if (options.maxDepth === 0) return "{ … }";
  const inner: PrintOptions = {
    ...(options.indent === undefined ? {} : { indent: options.indent + 2 }),
    ...(options.maxDepth === undefined ? {} : { maxDepth: options.maxDepth - 1 }),
  };
  const members = [
    ...type.properties.map((property) => ({ doc: property.doc, text: `${printKey(property)}: ${printTypeScript(property.type, inner)}` })),
    ...indexes.map(({ key, value, optional }) => ({ doc: [], text: `[key: ${printKeyPattern(key)}]: ${printTypeScript(value, inner)}${optional ? " | undefined" : ""}` })),
  ];
  const { indent } = options;
  if (indent === undefined) return `{ ${members.map(({ text }) => text).join("; ")} }`;
  const pad = " ".repeat(indent + 2);
  return `{\n${members.map(({ doc, text }) => `${printDoc(doc, pad)}${pad}${text};\n`).join("")}${" ".repeat(indent)}}`;
}

/**
 * TypeScript wants every property and every narrower index to fit the index that matches its name, so an index says all
 * of them. An optional property counts as possibly undefined there.
 */
function printableIndexes({ properties, indexes }: ObjectNode): { key: KeyPattern; value: TypeNode; optional: boolean }[] {
  return indexes.map(({ key, type }) => {
    const narrower = key.kind === "any" ? indexes.filter((other) => other.key.kind !== "any").map((other) => other.type) : [];
    const named = properties.filter(({ name }) => matchesKey(key, name));
    const value = unionOf([type, ...named.map((property) => property.type), ...narrower]);
    return { key, value, optional: value.kind !== "unknown" && named.some(({ optional }) => optional) };
  });
}

function printKeyPattern(key: KeyPattern): string {
  if (key.kind === "any") return "string";
  return key.kind === "prefix" ? `\`${key.text}\${string}\`` : `\`\${string}${key.text}\``;
}

function printKey({ name, optional }: PropertyNode): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
  return optional ? `${key}?` : key;
}

/** A string literal; every character that could end it, or the line, or the comment around it, is escaped. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A JSDoc block; empty for no lines. Text that would end the comment is broken up. */
export function printDoc(lines: readonly string[], pad: string): string {
  if (lines.length === 0) return "";
  const safe = lines.map((line) => line.replace(/\*\//g, "*\\/").trimEnd());
  const [only] = safe;
  if (safe.length === 1 && only !== undefined) return `${pad}/** ${only} */\n`;
  return `${pad}/**\n${safe.map((line) => `${pad} * ${line}`.trimEnd() + "\n").join("")}${pad} */\n`;
}
