import type { JsonSchema } from "@callgate/contract";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { resolved } from "./placeholder.ts";
import type { Placeholders } from "./placeholder.ts";

export interface VariedOptions {
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

/** Parts that are changed; what is larger than that stays as it is from there on. */
const maxChanges = 500;

/**
 * A value of the same shape in which each text, number and boolean is another one, where that is still valid: all at once,
 * or else as many as go together.
 */
export async function variedValue(value: unknown, { schema, placeholders, isValid }: VariedOptions): Promise<unknown> {
  const changes = [...changesOf(value, { schema, root: schema ?? true, placeholders })];
  const whole = changed(value, changes);
  if (await isValid(whole)) return whole;
  let varied = value;
  for (const change of changes) {
    const next = changed(varied, [change]);
    if (await isValid(next)) varied = next;
  }
  return varied;
}

interface Walking {
  readonly schema: unknown;
  readonly root: JsonSchema;
  readonly placeholders: Placeholders;
}

function changesOf(value: unknown, walking: Walking): readonly Change[] {
  const changes: Change[] = [];
  const walk = (at: unknown, path: Path, schema: unknown): void => {
    if (changes.length >= maxChanges) return;
    const keywords = keywordsOf(schema, walking.root);
    if (Array.isArray(at)) return at.forEach((item, index) => walk(item, [...path, index], itemSchema(keywords, index)));
    if (isPlainObject(at)) return Object.entries(at).forEach(([key, item]) => walk(item, [...path, key], propertySchema(keywords, key)));
    const to = otherThan(at, keywords, walking.placeholders);
    if (to !== undefined) changes.push({ path, to });
  };
  walk(value, [], walking.schema);
  return changes;
}

/** Undefined: there is nothing to change in it. */
function otherThan(leaf: unknown, keywords: Readonly<Record<string, unknown>>, placeholders: Placeholders): unknown {
  const words: readonly unknown[] = Array.isArray(keywords["enum"]) ? keywords["enum"] : [];
  if (words.length > 0) return words.find((word) => word !== leaf);
  if (typeof leaf === "boolean") return !leaf;
  if (typeof leaf === "number") return otherNumber(leaf, keywords);
  if (typeof leaf !== "string") return undefined;
  const made = placeholders.of(keywords)?.value;
  return typeof made === "string" && made !== leaf ? made : `${leaf}~`;
}

function otherNumber(leaf: number, { multipleOf, maximum, exclusiveMaximum }: Readonly<Record<string, unknown>>): number {
  const step = typeof multipleOf === "number" ? multipleOf : 1;
  const most = typeof maximum === "number" ? maximum : typeof exclusiveMaximum === "number" ? exclusiveMaximum - step : Number.POSITIVE_INFINITY;
  return leaf + step <= most ? leaf + step : leaf - step;
}

function changed(value: unknown, changes: readonly Change[]): unknown {
  let copy: unknown = structuredClone(value);
  for (const { path, to } of changes) {
    const last = path.at(-1);
    if (last === undefined) copy = to;
    else Object.defineProperty(path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], copy), last, { value: to, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

/** Of a schema that has alternatives, the first one that says anything. */
function keywordsOf(schema: unknown, root: JsonSchema): Readonly<Record<string, unknown>> {
  if (!isPlainObject(schema)) return {};
  const keywords = resolved(schema, root);
  const choices = keywords["anyOf"] ?? keywords["oneOf"];
  const choice: unknown = Array.isArray(choices) ? choices.find((one) => isPlainObject(one) && one["type"] !== "null") : undefined;
  return isPlainObject(choice) ? resolved(choice, root) : keywords;
}

function propertySchema(keywords: Readonly<Record<string, unknown>>, key: string): unknown {
  const { properties, additionalProperties } = keywords;
  return isPlainObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
}

function itemSchema({ prefixItems, items }: Readonly<Record<string, unknown>>, index: number): unknown {
  return Array.isArray(prefixItems) && index < prefixItems.length ? (prefixItems[index] as unknown) : items;
}
