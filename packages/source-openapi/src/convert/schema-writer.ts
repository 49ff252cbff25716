import type { JsonSchema } from "@callgate/contract";
import { entriesOf, follow, isRecord, itemsOf, own, resolved, textOf } from "../document/local-reference.ts";
import type { DocumentObject } from "../document/local-reference.ts";
import { discriminated } from "./discriminator.ts";
import { plainLine } from "./plain-text.ts";
import { plainKeywords } from "./schema-keywords.ts";
import type { Side } from "./schema-keywords.ts";

export interface SchemaWriterOptions {
  readonly document: unknown;
  readonly side: Side;
  /** Characters of JSON; what is beyond is left open: `{}`. The nearest definitions come first. */
  readonly maxChars: number;
  /** Keeps the `xml` hints of each schema: for who writes a body by it. */
  readonly keepsXml?: boolean;
  /** Hears of what could not be written as the document says it. */
  readonly onProblem: (message: string) => void;
}

/** Writes schemas of a document as one JSON Schema with its own `$defs`. */
export interface SchemaWriter {
  /** What a schema becomes. References in it lead to `#/$defs/...`. */
  write(schema: unknown): JsonSchema;
  /** The definitions that were referred to. Called last. */
  definitions(): Readonly<Record<string, JsonSchema>>;
}

/** Longest description of a part of a schema. */
const maxDescriptionChars = 240;
/** Schemas within schemas, without references in between. A catalog takes a nesting of 100, of which each schema is two. */
const maxDepth = 40;

/**
 * Copies a schema and what it refers to, each definition once, so that recursion stays a reference. Only keywords that a
 * JSON Schema has and whose values mean something are taken over: real documents hold `type: file`, `required: true`,
 * references that lead nowhere, and YAML that was meant otherwise. `oneOf` becomes `anyOf`, for real branches overlap.
 * What is only read (or only written) is not in the input (or the output).
 */
export function createSchemaWriter(options: SchemaWriterOptions): SchemaWriter {
  const writing: Writing = { ...options, names: new Map(), taken: new Set(), queue: [], leftChars: options.maxChars };
  return {
    write: (schema) => write(writing, schema, 0),
    definitions: () => {
      const written = new Map<string, JsonSchema>();
      // Grows while it is walked: definitions refer to definitions.
      for (const { name, ref } of writing.queue) written.set(name, write(writing, follow(writing.document, ref), 0));
      return Object.fromEntries(written);
    },
  };
}

/** One schema with the definitions that it needs. */
export function writeWhole(schema: unknown, options: SchemaWriterOptions): JsonSchema {
  const writer = createSchemaWriter(options);
  return withDefinitions(writer.write(schema), writer);
}

/** Puts the definitions that a writer has met beside what it wrote. */
export function withDefinitions(written: JsonSchema, writer: SchemaWriter): JsonSchema {
  const definitions = writer.definitions();
  return typeof written === "boolean" || Object.keys(definitions).length === 0 ? written : { ...written, $defs: definitions };
}

/** A document as it is being written. */
interface Writing extends SchemaWriterOptions {
  /** Of definitions, by reference. */
  readonly names: Map<string, string>;
  readonly taken: Set<string>;
  readonly queue: { readonly name: string; readonly ref: string }[];
  leftChars: number;
}

function write(writing: Writing, schema: unknown, depth: number): JsonSchema {
  if (typeof schema === "boolean") return schema;
  if (!isRecord(schema) || depth > maxDepth || writing.leftChars <= 0) return {};
  const description = descriptionOf(schema);
  const ref = own(schema, "$ref");
  // Beside a reference only the description counts: 3.0 ignores everything there, and 3.1 documents write little else.
  const hints = writing.keepsXml === true && isRecord(own(schema, "xml")) ? { xml: own(schema, "xml") } : {};
  const plain = { ...description, ...hints, ...(typeof ref === "string" ? reference(writing, ref) : plainKeywords(schema, writing.side)) };
  writing.leftChars -= JSON.stringify(plain).length + 2;
  return typeof ref === "string" ? plain : { ...plain, ...properties(writing, schema, depth), ...nested(writing, schema, depth) };
}

function reference(writing: Writing, ref: string): DocumentObject {
  const known = writing.names.get(ref);
  if (known !== undefined) return { $ref: `#/$defs/${known}` };
  if (resolved(writing.document, { $ref: ref }) === undefined && typeof follow(writing.document, ref) !== "boolean") {
    writing.onProblem(`${plainLine(ref, 120)} leads nowhere; what it stands for is left open`);
    return {};
  }
  const name = definitionName(ref, writing.taken);
  writing.names.set(ref, name);
  writing.queue.push({ name, ref });
  return { $ref: `#/$defs/${name}` };
}

function properties(writing: Writing, schema: DocumentObject, depth: number): DocumentObject {
  const all = own(schema, "properties");
  const hidden = writing.side === "input" ? "readOnly" : "writeOnly";
  const shown = entriesOf(all).filter(([, property]) => own(property, hidden) !== true && own(resolved(writing.document, property), hidden) !== true);
  writing.leftChars -= shown.reduce((sum, [name]) => sum + name.length + 4, 0);
  const names = new Set(shown.map(([name]) => name));
  const required = itemsOf(own(schema, "required")).filter((name) => typeof name === "string" && (names.has(name) || own(all, name) === undefined));
  return {
    ...(isRecord(all) ? { properties: Object.fromEntries(shown.map(([name, property]) => [name, write(writing, property, depth + 1)])) } : {}),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  };
}

function nested(writing: Writing, schema: DocumentObject, depth: number): DocumentObject {
  const kept: Record<string, unknown> = {};
  const inner = (one: unknown): JsonSchema => write(writing, one, depth + 1);
  for (const keyword of ["items", "additionalProperties", "propertyNames", "not"]) {
    const one = own(schema, keyword);
    // Services add properties; an answer with one more is still what was promised.
    if (keyword === "additionalProperties" && one === false && writing.side === "output") continue;
    if (isRecord(one) || typeof one === "boolean") kept[keyword] = inner(one);
  }
  const first = itemsOf(own(schema, "prefixItems"));
  if (first.length > 0) kept["prefixItems"] = first.map(inner);
  const patterns = entriesOf(own(schema, "patternProperties"));
  if (patterns.length > 0) kept["patternProperties"] = Object.fromEntries(patterns.map(([pattern, one]) => [pattern, inner(one)]));
  const choices = ["anyOf", "oneOf"].flatMap((keyword) => {
    const branches = itemsOf(own(schema, keyword));
    return branches.length === 0 ? [] : [{ anyOf: discriminated(writing.document, schema, branches).map(({ branch, tag }) => tagged(inner(branch), tag)) }];
  });
  const all = itemsOf(own(schema, "allOf")).map(inner);
  // One schema has one `anyOf`; where a document writes both words, both hold.
  if (choices.length > 1) return { ...kept, allOf: [...all, ...choices] };
  return { ...kept, ...(all.length > 0 ? { allOf: all } : {}), ...choices[0] };
}

function descriptionOf(schema: DocumentObject): { readonly description?: string } {
  const text = textOf(own(schema, "description"));
  const line = text === undefined ? "" : plainLine(text, maxDescriptionChars);
  return line === "" ? {} : { description: line };
}

/** A branch of which one property says which branch it is. */
function tagged(branch: JsonSchema, tag: { readonly property: string; readonly values: readonly string[] } | undefined): JsonSchema {
  if (tag === undefined) return branch;
  const value = tag.values.length === 1 ? { const: tag.values[0] } : { enum: tag.values };
  return { allOf: [branch, { type: "object", properties: Object.fromEntries([[tag.property, value]]), required: [tag.property] }] };
}

/** The last word of where a reference leads, unique. */
function definitionName(ref: string, taken: Set<string>): string {
  const last = ref.slice(ref.lastIndexOf("/") + 1).replace(/[^A-Za-z0-9_.-]+/g, "_").slice(0, 80);
  const name = last === "" || last === "__proto__" ? "schema" : last;
  let unique = name;
  for (let count = 2; taken.has(unique); count++) unique = `${name}_${count}`;
  taken.add(unique);
  return unique;
}
