import type { JsonSchema } from "@callgate/contract";
import type { Ajv, Options } from "ajv";
import { Ajv as AjvDraft07 } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { digestOf } from "../../lib/digest.ts";
import { isRecord, own, subschemas } from "../schema/json-schema.ts";
import type { SchemaObject } from "../schema/json-schema.ts";
import { tolerantPattern } from "./schema-pattern.ts";
import type { SchemaPattern } from "./schema-pattern.ts";
import { stepKeyword } from "./step-budget.ts";
import type { StepBudget } from "./step-budget.ts";

export type Dialect = "draft-07" | "2019-09" | "2020-12";

/**
 * Which dialect a schema is written in: what `$schema` says; without it 2020-12 (the default of MCP and of JSON Schema),
 * unless it writes tuples the old way.
 */
export function dialectOf(schema: JsonSchema): Dialect {
  if (!isRecord(schema)) return "2020-12";
  const declared = own(schema, "$schema");
  if (typeof declared === "string") {
    if (/draft-0[34567]/.test(declared)) return "draft-07";
    if (declared.includes("2019-09")) return "2019-09";
    if (declared.includes("2020-12")) return "2020-12";
  }
  return writesOldTuples(schema) ? "draft-07" : "2020-12";
}

function writesOldTuples(schema: JsonSchema): boolean {
  return someSchema(schema, (at) => Array.isArray(own(at, "items")));
}

function someSchema(root: JsonSchema, holds: (schema: SchemaObject) => boolean): boolean {
  const open: unknown[] = [root];
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (!isRecord(schema)) continue;
    if (holds(schema)) return true;
    open.push(...subschemas(schema).map((sub) => sub.schema));
  }
  return false;
}

export interface AjvSetup {
  readonly dialect: Dialect;
  /** False skips the bookkeeping for `unevaluated*`, for which every branch of a choice must be tried even after one fits. */
  readonly unevaluated: boolean;
  readonly options?: Options;
  readonly budget?: StepBudget;
}

/** The set-up for one schema, as it was written. */
export function setupFor(schema: JsonSchema): AjvSetup {
  const unevaluated = someSchema(schema, (at) => Object.hasOwn(at, "unevaluatedProperties") || Object.hasOwn(at, "unevaluatedItems"));
  return { dialect: dialectOf(schema), unevaluated };
}

/**
 * An Ajv for one schema. It never writes into data, counts own properties only (`required: ["toString"]` is not met by
 * every object), ignores formats and keywords it does not know, and fetches nothing.
 */
export function ajvFor({ dialect, unevaluated, options, budget }: AjvSetup): Ajv {
  const all: Options = {
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    ownProperties: true,
    messages: false,
    code: { regExp: patternEngine() },
    ...options,
  };
  const ajv = dialect === "draft-07" ? new AjvDraft07(all) : dialect === "2019-09" ? new Ajv2019(all) : new Ajv2020(all);
  // The classes of the later dialects force it on.
  ajv.opts.unevaluated = unevaluated;
  addFormats.default(ajv);
  useLinearUniqueItems(ajv);
  // Before any reference: a keyword after one that failed is never reached.
  const before = dialect === "draft-07" ? "$ref" : "$dynamicAnchor";
  if (budget !== undefined) ajv.addKeyword({ keyword: stepKeyword, before, validate: () => budget.step() });
  return ajv;
}

/** Ajv wants a factory with the source text it would write into a generated file; no file is generated here. */
function patternEngine(): { (pattern: string, flags: string): SchemaPattern; code: string } {
  return Object.assign((pattern: string) => tolerantPattern(pattern), { code: "new RegExp" });
}

/** In place of Ajv's own, which compares each pair of items: minutes for an array that fits in the argument limit. */
function useLinearUniqueItems(ajv: Ajv): void {
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({ keyword: "uniqueItems", type: "array", schemaType: "boolean", validate: (wanted: boolean, items: unknown[]) => !wanted || allDifferent(items) });
}

function allDifferent(items: readonly unknown[]): boolean {
  return new Set(items.map((item) => (typeof item === "object" && item !== null ? digestOf(item) : item))).size === items.length;
}
