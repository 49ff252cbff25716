import { hash } from "node:crypto";
import type { JsonSchema } from "@callgate/contract";
import { unescapePointer } from "../lib/json-pointer.ts";

/**
 * Makes values that stand for answers nobody has given: valid under a schema as far as that can be built, and made so that
 * each text and number in them is found again wherever it goes.
 */
export interface Placeholders {
  /** A value for a schema; undefined where none can be built. Whether it is valid is for a validator to say. */
  of(schema: JsonSchema): { readonly value: unknown } | undefined;
  /** What stands for anything. */
  opaque(): string;
}

export interface PlaceholdersOptions {
  /** Of the call that is answered. */
  readonly seq: number;
  /** Other texts than otherwise. */
  readonly isVaried: boolean;
}

type Keywords = Readonly<Record<string, unknown>>;

/** Beyond this, what may be left out is. */
const maxOptionalDepth = 6;
const maxDepth = 16;
const maxItems = 32;

export function createPlaceholders({ seq, isVaried }: PlaceholdersOptions): Placeholders {
  let made = 0;
  const nextNumber = (): number => ((made += 1), 900_000_000 + (seq % 10_000) * 10_000 + made);
  const nextText = (): string => `${String(seq).padStart(4, "0")}-${String((made += 1)).padStart(4, "0")}-placeholder${isVaried ? "-other" : ""}`;

  function build(schema: unknown, root: JsonSchema, depth: number): unknown {
    if (depth > maxDepth) throw new Unbuildable();
    if (!isKeywords(schema)) {
      if (schema === false) throw new Unbuildable();
      return nextText();
    }
    const keywords = resolved(schema, root);
    if ("const" in keywords) return keywords["const"];
    const words = keywords["enum"];
    if (Array.isArray(words) && words.length > 0) return words[0];
    const choices = keywords["anyOf"] ?? keywords["oneOf"];
    if (Array.isArray(choices)) return build(choices.find((choice) => !isNull(choice)) ?? choices[0], root, depth + 1);
    switch (typeOf(keywords)) {
      case "object":
        return buildObject(keywords, root, depth);
      case "array":
        return buildArray(keywords, root, depth);
      case "integer":
      case "number":
        return numberWithin(keywords, nextNumber());
      case "boolean":
        return true;
      case "null":
        return null;
      case "string":
      case undefined:
        return textOf(keywords, nextText());
    }
  }

  function buildObject(keywords: Keywords, root: JsonSchema, depth: number): unknown {
    const properties = isKeywords(keywords["properties"]) ? keywords["properties"] : {};
    const required: readonly unknown[] = Array.isArray(keywords["required"]) ? keywords["required"] : [];
    const names = [...new Set([...Object.keys(properties), ...required.filter((name) => typeof name === "string")])];
    return Object.fromEntries(names.filter((name) => required.includes(name) || depth < maxOptionalDepth).map((name) => [name, build(properties[name] ?? keywords["additionalProperties"] ?? true, root, depth + 1)]));
  }

  function buildArray(keywords: Keywords, root: JsonSchema, depth: number): unknown {
    const first: readonly unknown[] = Array.isArray(keywords["prefixItems"]) ? keywords["prefixItems"] : [];
    const least = numberOf(keywords["minItems"]) ?? 0;
    const count = Math.min(Math.max(least, first.length, 1), numberOf(keywords["maxItems"]) ?? maxItems, maxItems);
    // One item where any may be: a program that looks at the first finds it.
    const items = keywords["items"] ?? (first.length > 0 && least <= first.length ? false : true);
    return Array.from({ length: items === false ? Math.min(count, first.length) : count }, (_, index) => build(first[index] ?? items, root, depth + 1));
  }

  return {
    opaque: nextText,
    of(schema) {
      try {
        return { value: build(schema, schema, 0) };
      } catch (fault) {
        if (fault instanceof Unbuildable) return undefined;
        throw fault;
      }
    },
  };
}

class Unbuildable extends Error {}

function isKeywords(value: unknown): value is Keywords {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The schema with what it refers to and what must hold as well laid over it. */
export function resolved(schema: Keywords, root: JsonSchema, depth = 0): Keywords {
  if (depth > maxDepth) throw new Unbuildable();
  const target = typeof schema["$ref"] === "string" ? pointed(root, schema["$ref"]) : undefined;
  const parts = [...(isKeywords(target) ? [target] : []), ...(Array.isArray(schema["allOf"]) ? schema["allOf"].filter(isKeywords) : [])].map((part) => resolved(part, root, depth + 1));
  if (parts.length === 0) return schema;
  const { $ref: _ref, allOf: _allOf, ...own } = schema;
  return [...parts, own].reduce<Keywords>((all, part) => ({ ...all, ...part, ...merged(all, part) }), {});
}

function merged(one: Keywords, other: Keywords): Keywords {
  const properties = isKeywords(one["properties"]) && isKeywords(other["properties"]) ? { properties: { ...one["properties"], ...other["properties"] } } : {};
  const required = Array.isArray(one["required"]) && Array.isArray(other["required"]) ? { required: [...new Set([...one["required"], ...other["required"]] as unknown[])] } : {};
  return { ...properties, ...required };
}

function pointed(root: JsonSchema, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) throw new Unbuildable();
  return ref.slice(2).split("/").reduce<unknown>((at, part) => (isKeywords(at) || Array.isArray(at) ? (at as Keywords)[unescapePointer(decodeURIComponent(part))] : undefined), root);
}

type Kind = "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";

function typeOf({ type, ...keywords }: Keywords): Kind | undefined {
  const kind: unknown = Array.isArray(type) ? (type.find((one) => one !== "null") ?? type[0]) : type;
  if (typeof kind === "string") return kind as Kind;
  if ("properties" in keywords || "required" in keywords) return "object";
  return "items" in keywords || "prefixItems" in keywords ? "array" : undefined;
}

function isNull(schema: unknown): boolean {
  return isKeywords(schema) && schema["type"] === "null";
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** The wanted number where the bounds let it be, else one that they do. */
function numberWithin(keywords: Keywords, wanted: number): number {
  const step = numberOf(keywords["multipleOf"]) ?? 1;
  const above = numberOf(keywords["exclusiveMinimum"]);
  const below = numberOf(keywords["exclusiveMaximum"]);
  const isWhole = Number.isInteger(step);
  const lowest = Math.max(numberOf(keywords["minimum"]) ?? Number.NEGATIVE_INFINITY, above === undefined ? Number.NEGATIVE_INFINITY : above + (isWhole ? 1 : step));
  const highest = Math.min(numberOf(keywords["maximum"]) ?? Number.POSITIVE_INFINITY, below === undefined ? Number.POSITIVE_INFINITY : below - (isWhole ? 1 : step));
  const within = highest < wanted ? highest : Math.max(lowest, wanted);
  return step === 1 ? within : Math.floor(within / step) * step;
}

/** The text in the form that is asked for, as long as it may be. Of a pattern only an example is known to fit. */
function textOf(keywords: Keywords, text: string): string {
  const shown: unknown = Array.isArray(keywords["examples"]) ? keywords["examples"][0] : keywords["default"];
  if ("pattern" in keywords && typeof shown === "string") return shown;
  const formed = formats[String(keywords["format"])]?.(text) ?? text;
  // What tells it from others comes first, so that a short one has it.
  return formed.padEnd(numberOf(keywords["minLength"]) ?? 0, ".").slice(0, numberOf(keywords["maxLength"]));
}

const day = (text: string): string => (text.endsWith("other") ? "1970-01-02" : "1970-01-01");
const formats: Readonly<Record<string, (text: string) => string>> = {
  "date-time": (text) => `${day(text)}T00:00:00Z`,
  date: day,
  time: (text) => (text.endsWith("other") ? "00:00:01Z" : "00:00:00Z"),
  email: (text) => `${text}@placeholder.invalid`,
  hostname: (text) => `${text}.invalid`,
  uri: (text) => `https://placeholder.invalid/${text}`,
  url: (text) => `https://placeholder.invalid/${text}`,
  "uri-reference": (text) => `https://placeholder.invalid/${text}`,
  uuid: (text) => hash("sha256", text, "hex").replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5"),
  ipv4: (text) => (text.endsWith("other") ? "192.0.2.2" : "192.0.2.1"),
};
