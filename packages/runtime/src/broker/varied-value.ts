import type { JsonSchema } from "@callgate/contract";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { resolved } from "./placeholder.ts";
import type { Placeholders } from "./placeholder.ts";

/**
 * How the placeholders of a rehearsal differ from plain ones, each for branches of its kind:
 *
 * - `other`: each text, number and boolean is another one
 * - `absent`: what may be left out is, and what may be null is
 * - `empty`: lists are empty
 * - `least`, `most`: numbers are as low or as high as may be; for `most` lists are longer, and what was left out or null is there
 */
export type ValueVariant = "other" | "absent" | "empty" | "least" | "most";

export interface VariedOptions {
  readonly how: ValueVariant;
  readonly schema: JsonSchema | undefined;
  /** Makes the other values. */
  readonly placeholders: Placeholders;
  readonly isValid: (value: unknown) => Promise<boolean>;
}

type Path = readonly (string | number)[];

interface Change {
  readonly path: Path;
  readonly to: unknown;
}

/** The place is left out. */
const gone = Symbol("gone");

/** Parts that are changed; what is larger than that stays as it is from there on. */
const maxChanges = 500;

/** The value with each part changed as far as that is still valid: all at once, or else as many as go together. */
export async function variedValue(value: unknown, { how, schema, placeholders, isValid }: VariedOptions): Promise<unknown> {
  const changes = changesOf(value, { how, schema, root: schema ?? true, placeholders });
  const whole = changed(value, changes);
  if (changes.length === 0 || (await isValid(whole))) return whole;
  let varied = value;
  // Later places first: what is left out moves nothing that comes before it.
  for (const change of changes.toReversed()) {
    const next = changed(varied, [change]);
    if (await isValid(next)) varied = next;
  }
  return varied;
}

/** Whether there is anything in a value that could be changed so. */
export function canVary(value: unknown, { how, schema, placeholders }: Omit<VariedOptions, "isValid">): boolean {
  return changesOf(value, { how, schema, root: schema ?? true, placeholders }).length > 0;
}

interface Walking extends Omit<VariedOptions, "schema" | "isValid"> {
  readonly schema: unknown;
  readonly root: JsonSchema;
}

type Keywords = Readonly<Record<string, unknown>>;

function changesOf(value: unknown, walking: Walking): readonly Change[] {
  const { how, root, placeholders } = walking;
  const changes: Change[] = [];
  const walk = (at: unknown, path: Path, schema: unknown): void => {
    if (changes.length >= maxChanges) return;
    if (how === "absent" && at !== null && path.length > 0 && mayBeNull(schema, root)) return void changes.push({ path, to: null });
    const keywords = keywordsOf(schema, root);
    if (Array.isArray(at)) return walkItems(at, path, keywords);
    if (isPlainObject(at)) return walkProperties(at, path, keywords);
    const to = how === "most" && at === null ? placeholders.of(keywords)?.value : otherThan(at, keywords, walking);
    if (to !== undefined && to !== null) changes.push({ path, to });
  };
  const walkItems = (at: readonly unknown[], path: Path, keywords: Keywords): void => {
    if (how === "empty") return void (at.length > 0 ? changes.push({ path, to: [] }) : undefined);
    const longer = how === "most" ? oneMore(at, keywords, walking) : undefined;
    if (longer !== undefined) return void changes.push({ path, to: longer });
    at.forEach((item, index) => walk(item, [...path, index], itemSchema(keywords, index)));
  };
  const walkProperties = (at: Readonly<Record<string, unknown>>, path: Path, keywords: Keywords): void => {
    for (const [key, item] of Object.entries(at)) {
      if (how === "absent" && isOptional(keywords, key)) changes.push({ path: [...path, key], to: gone });
      else walk(item, [...path, key], propertySchema(keywords, key));
    }
    if (how !== "most" || !isPlainObject(keywords["properties"])) return;
    for (const key of Object.keys(keywords["properties"]).filter((one) => !Object.hasOwn(at, one))) {
      const made = placeholders.of(keywordsOf(propertySchema(keywords, key), root))?.value;
      if (made !== undefined) changes.push({ path: [...path, key], to: made });
    }
  };
  walk(value, [], walking.schema);
  return changes;
}

/** The list with another item behind; undefined where none can be made. */
function oneMore(items: readonly unknown[], keywords: Keywords, walking: Walking): readonly unknown[] | undefined {
  const schema = itemSchema(keywords, items.length);
  const last: unknown = items.at(-1);
  if (items.length === 0) {
    const made = isPlainObject(schema) ? walking.placeholders.of(schema as JsonSchema)?.value : undefined;
    return made === undefined ? undefined : [made];
  }
  return [...items, changed(last, changesOf(last, { ...walking, how: "other", schema }))];
}

/** Undefined: there is nothing to change in it. */
function otherThan(leaf: unknown, keywords: Keywords, { how, placeholders }: Walking): unknown {
  if (how === "least" || how === "most") return typeof leaf === "number" ? boundary(leaf, keywords, how) : undefined;
  if (how !== "other") return undefined;
  const words: readonly unknown[] = Array.isArray(keywords["enum"]) ? keywords["enum"] : [];
  if (words.length > 0) return words.find((word) => word !== leaf);
  if (typeof leaf === "boolean") return !leaf;
  if (typeof leaf === "number") return otherNumber(leaf, keywords);
  if (typeof leaf !== "string") return undefined;
  const made = placeholders.of(keywords)?.value;
  return typeof made === "string" && made !== leaf ? made : `${leaf}~`;
}

/** Beyond what amounts, counts and ages are compared with. */
const farNumber = 1_000_000_000_000;

function boundary(leaf: number, keywords: Keywords, how: "least" | "most"): number | undefined {
  const words = Array.isArray(keywords["enum"]) ? keywords["enum"].filter((word) => typeof word === "number") : [];
  const step = numberAt(keywords, "multipleOf") ?? 1;
  const [end, outside, sign] = how === "least" ? ([numberAt(keywords, "minimum"), numberAt(keywords, "exclusiveMinimum"), -1] as const) : ([numberAt(keywords, "maximum"), numberAt(keywords, "exclusiveMaximum"), 1] as const);
  const far = words.length > 0 ? (how === "least" ? Math.min(...words) : Math.max(...words)) : (end ?? (outside === undefined ? sign * farNumber : outside - sign * step));
  const found = words.length > 0 ? far : (how === "least" ? Math.ceil(far / step) : Math.floor(far / step)) * step;
  return found === leaf ? undefined : found;
}

function numberAt(keywords: Keywords, name: string): number | undefined {
  const value = keywords[name];
  return typeof value === "number" ? value : undefined;
}

function otherNumber(leaf: number, { multipleOf, maximum, exclusiveMaximum }: Keywords): number {
  const step = typeof multipleOf === "number" ? multipleOf : 1;
  const most = typeof maximum === "number" ? maximum : typeof exclusiveMaximum === "number" ? exclusiveMaximum - step : Number.POSITIVE_INFINITY;
  return leaf + step <= most ? leaf + step : leaf - step;
}

function changed(value: unknown, changes: readonly Change[]): unknown {
  let copy: unknown = structuredClone(value);
  for (const { path, to } of changes) {
    const last = path.at(-1);
    if (last === undefined) {
      copy = to;
      continue;
    }
    const around = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], copy) as object;
    if (to === gone) Reflect.deleteProperty(around, last);
    else Object.defineProperty(around, last, { value: to, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

function mayBeNull(schema: unknown, root: JsonSchema): boolean {
  if (!isPlainObject(schema)) return false;
  const { type, anyOf, oneOf } = resolved(schema, root);
  const choices: unknown = anyOf ?? oneOf;
  return type === "null" || (Array.isArray(type) && type.includes("null")) || (Array.isArray(choices) && choices.some((one) => isPlainObject(one) && one["type"] === "null"));
}

/** A property that a schema names and does not require. */
function isOptional({ properties, required }: Keywords, key: string): boolean {
  return isPlainObject(properties) && Object.hasOwn(properties, key) && !(Array.isArray(required) && required.includes(key));
}

/** Of a schema that has alternatives, the first one that says anything. */
function keywordsOf(schema: unknown, root: JsonSchema): Keywords {
  if (!isPlainObject(schema)) return {};
  const keywords = resolved(schema, root);
  const choices = keywords["anyOf"] ?? keywords["oneOf"];
  const choice: unknown = Array.isArray(choices) ? choices.find((one) => isPlainObject(one) && one["type"] !== "null") : undefined;
  return isPlainObject(choice) ? resolved(choice, root) : keywords;
}

function propertySchema(keywords: Keywords, key: string): unknown {
  const { properties, additionalProperties } = keywords;
  return isPlainObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
}

function itemSchema({ prefixItems, items }: Keywords, index: number): unknown {
  return Array.isArray(prefixItems) && index < prefixItems.length ? (prefixItems[index] as unknown) : items;
}
