import { entriesOf, itemsOf, own, resolved, textOf } from "../document/local-reference.ts";
import type { DocumentObject } from "../document/local-reference.ts";
import type { HttpBody, HttpEncoding, ParameterStyle } from "../http-operation.ts";
import { exampleOf } from "./parameters.ts";
import { typesOf } from "./schema-keywords.ts";

/** A request body with what describes its arguments. */
export interface DeclaredBody {
  readonly body: HttpBody;
  /** By argument, as the document has them. */
  readonly schemas: readonly (readonly [string, unknown])[];
  /** Arguments without which there is no call. */
  readonly required: readonly string[];
  /** Of the whole body. */
  readonly example: unknown;
}

/** One file as an argument: most are texts, and what is none is written in base64. */
const fileSchema: DocumentObject = {
  anyOf: [
    { type: "string" },
    { type: "object", properties: { base64: { type: "string" }, filename: { type: "string" }, mediaType: { type: "string" } }, required: ["base64"], additionalProperties: false },
  ],
};
const fileWords = "A text, or { base64, filename?, mediaType? } for any other file";

/**
 * The body of an operation: of several media types the one that arguments say best. The properties of a plain object are
 * arguments of their own beside the parameters, unless a name would be there twice; any other body is one argument.
 *
 * @param taken arguments that parameters have
 */
export function bodyOf(document: unknown, operation: unknown, taken: ReadonlySet<string>): DeclaredBody | undefined {
  const written = resolved(document, own(operation, "requestBody"));
  const [chosen] = entriesOf(own(written, "content")).toSorted(([a], [b]) => rankOf(a) - rankOf(b));
  if (chosen === undefined) return undefined;
  const [name, content] = chosen;
  const mediaType = name.includes("*") ? "application/json" : name;
  const required = own(written, "required") === true;
  const encoding = encodingOf(own(content, "encoding"));
  const common = { mediaType, required, ...(encoding === undefined ? {} : { encoding }) };
  const example = exampleOf(content) ?? exampleOf(resolved(document, own(content, "schema")));
  const schema = own(content, "schema") ?? {};
  if (!required && saysNothing(document, schema)) return undefined;
  const flat = isStructured(mediaType) ? plainObject(document, schema) : undefined;
  if (flat !== undefined && !flat.names.some((one) => taken.has(one)) && (required || flat.required.length === 0)) {
    const isForm = mediaType.startsWith("multipart/");
    const files = isForm ? flat.properties.filter(([, property]) => isFile(document, property)).map(([one]) => one) : [];
    const schemas = flat.properties.map(([one, property]) => [one, files.includes(one) ? fileArgument(document, property) : property] as const);
    return { body: { ...common, from: { kind: "merged", properties: flat.names }, files }, schemas, required: flat.required, example };
  }
  const argument = freeName(taken);
  const wholeFile = rankOf(mediaType) === ranks.length;
  const described = { ...(wholeFile ? fileArgument(document, schema) : mediaType.startsWith("text/") && typesOf(schema).length === 0 ? { type: "string" } : withFiles(document, schema, mediaType)), ...descriptionOf(written) };
  const files = wholeFile ? [""] : fileProperties(document, schema, mediaType);
  const xml = /[/+]xml$/.test(mediaType) ? { xml: schema as DocumentObject } : {};
  return { body: { ...common, ...xml, from: { kind: "whole", argument }, files }, schemas: [[argument, described]], required: required ? [argument] : [], example: example === undefined ? undefined : { [argument]: example } };
}

/** Media types in the order in which they are chosen; anything else is a file. */
const ranks: readonly RegExp[] = [/^application\/json\b/, /[/+]json\b|^\*\/\*$|^application\/\*$/, /^application\/x-www-form-urlencoded\b/, /^multipart\//, /[/+]xml\b/, /^text\//];

function rankOf(mediaType: string): number {
  const rank = ranks.findIndex((pattern) => pattern.test(mediaType.toLowerCase()));
  return rank === -1 ? ranks.length : rank;
}

function isStructured(mediaType: string): boolean {
  return rankOf(mediaType) <= 3;
}

function freeName(taken: ReadonlySet<string>): string {
  let name = "body";
  for (let count = 1; taken.has(name); count++) name = count === 1 ? "request_body" : `request_body_${count}`;
  return name;
}

function descriptionOf(written: unknown): { readonly description?: string } {
  const description = textOf(own(written, "description"));
  return description === undefined ? {} : { description };
}

function encodingOf(written: unknown): Readonly<Record<string, HttpEncoding>> | undefined {
  const entries = entriesOf(written).map(([property, one]) => {
    const [contentType, style] = [textOf(own(one, "contentType")), textOf(own(one, "style"))];
    const [explode, allowReserved] = [own(one, "explode"), own(one, "allowReserved")];
    const encoding: HttpEncoding = {
      ...(contentType === undefined ? {} : { contentType }),
      ...(style === undefined ? {} : { style: style as ParameterStyle }),
      ...(typeof explode === "boolean" ? { explode } : {}),
      ...(typeof allowReserved === "boolean" ? { allowReserved } : {}),
    };
    return [property, encoding] as const;
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** An object of no properties, which generators write where there is no body. */
function saysNothing(document: unknown, schema: unknown): boolean {
  const at = resolved(document, schema);
  const further = own(at, "additionalProperties");
  return own(at, "type") === "object" && entriesOf(own(at, "properties")).length === 0 && (further === undefined || further === false) && [...moreThanProperties, "allOf"].every((keyword) => own(at, keyword) === undefined);
}

interface PlainObject {
  readonly names: readonly string[];
  readonly properties: readonly (readonly [string, unknown])[];
  readonly required: readonly string[];
}

/** Keywords with which an object is more than its list of properties. */
const moreThanProperties = ["anyOf", "oneOf", "not", "if", "patternProperties", "discriminator", "nullable", "enum", "const", "dependentRequired", "minProperties"];

/** The properties of a schema that is nothing else than an object with them, through references and `allOf`. */
function plainObject(document: unknown, schema: unknown, depth = 0): PlainObject | undefined {
  const at = resolved(document, schema);
  if (at === undefined || depth > 8 || moreThanProperties.some((keyword) => own(at, keyword) !== undefined)) return undefined;
  const [further, types] = [own(at, "additionalProperties"), typesOf(at)];
  if ((further !== undefined && further !== false) || types.length > 1 || (types[0] ?? "object") !== "object") return undefined;
  const parts = itemsOf(own(at, "allOf")).map((part) => plainObject(document, part, depth + 1));
  if (parts.some((part) => part === undefined)) return undefined;
  const writable = entriesOf(own(at, "properties")).filter(([, property]) => own(resolved(document, property), "readOnly") !== true && own(property, "readOnly") !== true);
  const properties = new Map([...parts.flatMap((part) => part?.properties ?? []), ...writable]);
  if (properties.size === 0) return undefined;
  const required = [...parts.flatMap((part) => part?.required ?? []), ...itemsOf(own(at, "required"))].filter((name): name is string => typeof name === "string" && properties.has(name));
  return { names: [...properties.keys()], properties: [...properties], required: [...new Set(required)] };
}

function fileProperties(document: unknown, schema: unknown, mediaType: string): readonly string[] {
  if (!mediaType.startsWith("multipart/")) return [];
  return entriesOf(own(resolved(document, schema), "properties")).filter(([, property]) => isFile(document, property)).map(([name]) => name);
}

function withFiles(document: unknown, schema: unknown, mediaType: string): DocumentObject {
  const files = fileProperties(document, schema, mediaType);
  const at = resolved(document, schema);
  if (files.length === 0) return schema as DocumentObject;
  return { ...at, properties: Object.fromEntries(entriesOf(own(at, "properties")).map(([name, property]) => [name, files.includes(name) ? fileArgument(document, property) : property])) };
}

/** Also where there are several. */
function isFile(document: unknown, property: unknown): boolean {
  const schema = resolved(document, property);
  if (own(schema, "type") === "array") return isFile(document, own(schema, "items"));
  const isBinary = own(schema, "format") === "binary" || own(schema, "type") === "file";
  return isBinary || (typesOf(schema).length === 0 && textOf(own(schema, "contentMediaType")) !== undefined);
}

function fileArgument(document: unknown, property: unknown): DocumentObject {
  const schema = resolved(document, property);
  const said = textOf(own(schema, "description"));
  const description = said === undefined ? fileWords : `${said} (${fileWords})`;
  return own(schema, "type") === "array" ? { type: "array", items: fileSchema, description } : { ...fileSchema, description };
}
