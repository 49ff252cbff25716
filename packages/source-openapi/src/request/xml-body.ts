import type { JsonSchema } from "@callgate/contract";
import { XMLBuilder, XMLParser } from "fast-xml-parser";
import { isPlainObject } from "./plain-object.ts";

/** What a schema says about the XML form of its value: the `xml` object of OpenAPI. */
interface XmlHints {
  readonly name?: string;
  readonly namespace?: string;
  readonly prefix?: string;
  readonly attribute?: boolean;
  readonly wrapped?: boolean;
}

type Node = { readonly [name: string]: unknown };

const attributePrefix = "@";
const textName = "#text";
/** Deeper than any document; a schema that leads into itself with a value that does ends here. */
const maxDepth = 64;

const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: attributePrefix, textNodeName: textName, suppressEmptyNode: true, suppressBooleanAttributes: false });
// Entities of a document are never defined by itself: those bombs do not go off. Values stay texts: "007" is no number.
const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: attributePrefix, textNodeName: textName, parseTagValue: false, parseAttributeValue: false, removeNSPrefix: true });

/**
 * A value as XML, by the `xml` hints of its schema.
 *
 * @param schema references lead into its own `$defs`
 */
export function writeXml(value: unknown, schema: JsonSchema): string {
  const scene = { root: schema };
  const { name, node } = elementOf(value, schema, { scene, fallback: rootName(schema), depth: 0 });
  return `<?xml version="1.0" encoding="UTF-8"?>${builder.build({ [name]: node })}`;
}

/**
 * An XML answer as plain data: attributes under `@name`, text beside them under `#text`, elements that come several times as
 * lists. Undefined for what is no XML, or defines entities.
 */
export function readXml(text: string): unknown {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) return undefined;
  try {
    const { "?xml": _declaration, ...rest } = parser.parse(text, true) as Node;
    return rest;
  } catch {
    return undefined;
  }
}

interface Scene {
  readonly root: JsonSchema;
}

interface Place {
  readonly scene: Scene;
  /** The element's name where the schema gives none. */
  readonly fallback: string;
  readonly depth: number;
}

function elementOf(value: unknown, schema: JsonSchema, { scene, fallback, depth }: Place): { readonly name: string; readonly node: unknown } {
  const at = resolvedIn(scene.root, schema);
  const hints = hintsOf(at);
  const name = named(hints, fallback);
  const space = hints.namespace === undefined ? {} : { [`${attributePrefix}xmlns${hints.prefix === undefined ? "" : `:${hints.prefix}`}`]: hints.namespace };
  if (depth > maxDepth) return { name, node: "" };
  if (isPlainObject(value)) return { name, node: { ...space, ...childrenOf(value, at, { scene, fallback, depth }) } };
  if (Array.isArray(value)) return { name, node: { ...space, ...itemsOf(value, at, { scene, fallback: "item", depth }) } };
  return { name, node: Object.keys(space).length === 0 ? textOf(value) : { ...space, [textName]: textOf(value) } };
}

function childrenOf(value: Readonly<Record<string, unknown>>, schema: Node, { scene, depth }: Place): Node {
  const node: Record<string, unknown> = {};
  for (const [property, item] of Object.entries(value)) {
    if (item === undefined || item === null) continue;
    const inner = propertySchema(schema, property, { root: scene.root, depth: 0 });
    const at = resolvedIn(scene.root, inner);
    const hints = hintsOf(at);
    if (hints.attribute === true) node[attributePrefix + named(hints, property)] = textOf(item);
    else if (Array.isArray(item) && hints.wrapped !== true) Object.assign(node, itemsOf(item, at, { scene, fallback: named(hints, property), depth: depth + 1 }));
    else {
      const child = Array.isArray(item) ? { name: named(hints, property), node: itemsOf(item, at, { scene, fallback: property, depth: depth + 1 }) } : elementOf(item, inner, { scene, fallback: property, depth: depth + 1 });
      node[child.name] = child.node;
    }
  }
  return node;
}

/** The items of a list under the name of their own schema, else that of the property. */
function itemsOf(values: readonly unknown[], schema: Node, { scene, fallback, depth }: Place): Node {
  const items = (schema["items"] ?? {}) as JsonSchema;
  const elements = values.map((value) => elementOf(value, items, { scene, fallback, depth: depth + 1 }));
  const [first] = elements;
  return first === undefined ? {} : { [first.name]: elements.map(({ node }) => node) };
}

function propertySchema(schema: Node, property: string, { root, depth }: { readonly root: JsonSchema; readonly depth: number }): JsonSchema {
  const { properties, allOf } = schema;
  if (isPlainObject(properties) && Object.hasOwn(properties, property)) return properties[property] as JsonSchema;
  if (!Array.isArray(allOf) || depth > 8) return {};
  for (const part of allOf as readonly JsonSchema[]) {
    const found = propertySchema(resolvedIn(root, part), property, { root, depth: depth + 1 });
    if (typeof found === "object" && Object.keys(found).length > 0) return found;
  }
  return {};
}

function resolvedIn(root: JsonSchema, schema: JsonSchema, depth = 0): Node {
  if (typeof schema !== "object") return {};
  const reference = (schema as Node)["$ref"];
  const [, name] = typeof reference === "string" ? (/^#\/\$defs\/(.+)$/.exec(reference) ?? []) : [];
  const definitions = typeof root === "object" ? (root as Node)["$defs"] : undefined;
  if (name === undefined || depth > 16 || !isPlainObject(definitions)) return schema as Node;
  const key = decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~");
  return Object.hasOwn(definitions, key) ? { ...resolvedIn(root, definitions[key] as JsonSchema, depth + 1), ...withoutReference(schema as Node) } : {};
}

function withoutReference({ $ref: _reference, ...rest }: Node): Node {
  return rest;
}

function hintsOf(schema: Node): XmlHints {
  return isPlainObject(schema["xml"]) ? (schema["xml"] as XmlHints) : {};
}

function named({ name, prefix }: XmlHints, fallback: string): string {
  return `${prefix === undefined ? "" : `${prefix}:`}${name ?? fallback}`;
}

/** Where the schema gives no name, that of the definition it is. */
function rootName(schema: JsonSchema): string {
  const reference = typeof schema === "object" ? (schema as Node)["$ref"] : undefined;
  const [, name = "root"] = typeof reference === "string" ? (/\/([A-Za-z_][\w.-]*)$/.exec(reference) ?? []) : [];
  return name;
}

function textOf(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}
