import { detectorNames } from "@callgate/contract";
import type { DetectorName, JsonSchema, ToolSpec } from "@callgate/contract";
import type { Ajv, ErrorObject } from "ajv";
import { z } from "zod";
import { pointerOf } from "../../lib/json-pointer.ts";
import { entriesOf, isRecord, own, subschemas } from "../schema/json-schema.ts";
import { openSchema } from "../schema/schema-document.ts";
import { ajvFor, dialectOf } from "./ajv-for-schema.ts";
import type { Dialect } from "./ajv-for-schema.ts";
import { describeError } from "./describe-issues.ts";
import { got } from "./issue-words.ts";
import { readPattern } from "./schema-pattern.ts";
import { normalizeDialect } from "../schema/normalize-dialect.ts";

/** A schema larger than this is refused: someone would have to carry it into every check. */
const maxSchemaChars = 1024 * 1024;
/** Nesting of a schema as JSON. */
export const maxSchemaDepth = 100;

/** Faults of one schema past this many are not listed. */
const maxSchemaIssues = 5;

const wholeNumber = (min: number, max: number) => z.int().min(min).max(max);
const dayMs = 86_400_000;
const strings = z.array(z.string());
const code = z.string().regex(/^[A-Z][A-Z0-9_]*$/, "expected UPPER_SNAKE");
const schema = z.unknown().refine((value) => typeof value === "boolean" || isRecord(value), "expected a JSON Schema: an object or a boolean");

const sidePointer = z.string().regex(/^\/(input|output)(\/|$)/, "expected a JSON Pointer that starts with /input or /output");

const specFields = z.object({
  name: z.string().min(1).max(256),
  title: z.string().optional(),
  description: z.string(),
  whenToUse: z.string().optional(),
  input: schema,
  output: schema.optional(),
  effect: z.enum(["read", "write", "destructive"]),
  tags: strings,
  permissions: strings,
  labels: strings,
  version: z.string(),
  deprecated: z.string().optional(),
  timeoutMs: wholeNumber(1, dayMs),
  retry: z.object({ retries: wholeNumber(1, 10), minDelayMs: wholeNumber(0, dayMs).optional(), maxDelayMs: wholeNumber(0, dayMs).optional() }).optional(),
  cache: z.object({ ttlMs: wholeNumber(1, 365 * dayMs) }).optional(),
  idempotent: z.boolean().optional(),
  reread: z.boolean().optional(),
  paged: z.boolean().optional(),
  concurrency: wholeNumber(1, 100_000).optional(),
  cost: z.object({ microUsdPerCall: z.number().min(0).optional(), tokensPerCall: z.number().min(0).optional() }).optional(),
  examples: z.array(z.object({ description: z.string().optional(), input: z.record(z.string(), z.unknown()), output: z.unknown().optional() })),
  errors: z.array(z.object({ code, description: z.string(), retryable: z.boolean().optional() })),
  sensitive: z.array(sidePointer).optional(),
  detect: z.record(sidePointer, z.strictObject(Object.fromEntries(detectorNames.map((name) => [name, z.boolean().optional()])) as Record<DetectorName, z.ZodOptional<z.ZodBoolean>>)).optional(),
});

export type ParsedSpec = { readonly kind: "ok"; readonly spec: ToolSpec; readonly warnings: readonly string[] } | { readonly kind: "invalid"; readonly issues: readonly string[] };

/** Judges declarations. One for a catalog: it keeps the compiled meta-schemas. */
export interface SpecParser {
  /**
   * Everything a tool declares, as a plain frozen copy that later changes to the original do not reach. Issues name
   * field and JSON Pointer, `input/properties/a/type: ...`. Warnings are about what will not be checked.
   */
  parse(tool: unknown): ParsedSpec;
}

export function createSpecParser(): SpecParser {
  const metaSchemas = new Map<Dialect, Ajv>();
  const metaFor = (dialect: Dialect): Ajv => {
    const known = metaSchemas.get(dialect) ?? ajvFor({ dialect, unevaluated: true, options: { meta: true, validateSchema: true, allErrors: true, verbose: true } });
    metaSchemas.set(dialect, known);
    return known;
  };
  return {
    parse(tool) {
      const fields = specFields.safeParse(tool, { reportInput: true });
      if (!fields.success) return { kind: "invalid", issues: fields.error.issues.map(fieldIssue) };
      const copy = plainCopy(fields.data);
      if (typeof copy === "string") return { kind: "invalid", issues: [copy] };
      const judged = (["input", "output"] as const).map((side) => judgeSchema(copy[side], side, metaFor));
      const issues = [...judged.flatMap((one) => one.issues), ...pagingIssues(copy)];
      if (issues.length > 0) return { kind: "invalid", issues };
      // What the schema's own author wrote checks such patterns as well.
      const unchecked = judged.filter((_one, index) => !hasOwnParser(tool, index === 0 ? "parseInput" : "parseOutput"));
      return { kind: "ok", spec: deepFreeze(copy), warnings: unchecked.flatMap((one) => one.warnings) };
    },
  };
}

function hasOwnParser(tool: unknown, name: "parseInput" | "parseOutput"): boolean {
  return typeof (tool as Readonly<Record<string, unknown>>)[name] === "function";
}

function fieldIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join(".");
  const message = issue.message.replace(/^Invalid input: /, "");
  return `${path === "" ? "the tool" : path}: ${message}${issue.input === undefined ? "" : `, got ${got(issue.input)}`}`;
}

/** A copy of plain data; a message when it is none, or beyond the bounds. */
function plainCopy(fields: z.infer<typeof specFields>): ToolSpec | string {
  try {
    const json = JSON.stringify(fields);
    if (json.length > maxSchemaChars) return `the declaration is ${json.length} characters of JSON, the bound is ${maxSchemaChars}`;
    const copy = JSON.parse(json) as ToolSpec;
    const deep = (["input", "output"] as const).find((side) => depthOf(copy[side], maxSchemaDepth) > maxSchemaDepth);
    return deep === undefined ? copy : `${deep}: nested deeper than ${maxSchemaDepth}`;
  } catch (cause) {
    return `the declaration is not plain JSON: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

function depthOf(value: unknown, bound: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (bound < 0) return 1;
  let deepest = 0;
  for (const item of Object.values(value)) deepest = Math.max(deepest, depthOf(item, bound - 1));
  return deepest + 1;
}

function judgeSchema(json: JsonSchema | undefined, side: "input" | "output", metaFor: (dialect: Dialect) => Ajv): { issues: string[]; warnings: string[] } {
  if (json === undefined) return { issues: [], warnings: [] };
  const normal = normalizeDialect(json);
  const dialect = dialectOf(json);
  const meta = metaFor(dialect);
  const issues = meta.validateSchema(normal) === true ? [] : metaIssues(meta.errors ?? [], side);
  const { brokenRefs } = openSchema(normal);
  for (const { pointer, ref } of brokenRefs) {
    const why = /^[a-z][\w+.-]*:/i.test(ref) ? "leads outside of the schema, and nothing is fetched; put the definition under $defs" : "leads nowhere";
    issues.push(`${side}${pointer}/$ref: ${JSON.stringify(ref)} ${why}`);
  }
  if (side === "input" && !canBeObject(normal)) issues.push("input: must describe an object, because a tool takes one object of named arguments");
  return { issues, warnings: unreadablePatterns(normal, side) };
}

/** What `pages` yields has to have a type. */
function pagingIssues({ paged, output }: ToolSpec): string[] {
  const isSaid = isRecord(output) && isRecord(own(output, "properties")) && own(own(output, "properties") as Readonly<Record<string, unknown>>, "page") !== undefined;
  return paged === true && !isSaid ? ["output: a paged tool gives { page, next? }; declare an object with these properties"] : [];
}

/** The first fault of each place: the others are the branches of a meta-schema that were not meant. */
function metaIssues(errors: readonly ErrorObject[], side: string): string[] {
  const byPath = new Map<string, string>();
  for (const error of errors.filter(({ keyword }) => !["anyOf", "allOf", "if", "$ref", "$dynamicRef"].includes(keyword))) {
    for (const { path, message } of describeError(error)) if (!byPath.has(path)) byPath.set(path, message);
  }
  return [...byPath].slice(0, maxSchemaIssues).map(([path, message]) => `${side}${path}: ${message}`);
}

function canBeObject(json: JsonSchema): boolean {
  if (typeof json === "boolean") return json;
  const type = own(json, "type");
  return type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"));
}

/** Patterns that cannot be checked are said, rather than losing the tool. */
function unreadablePatterns(json: JsonSchema, side: string): string[] {
  const found: string[] = [];
  const open: { schema: unknown; path: readonly string[] }[] = [{ schema: json, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { schema: at, path } = next;
    if (!isRecord(at)) continue;
    const patterns = [own(at, "pattern"), ...entriesOf(own(at, "patternProperties")).map(([pattern]) => pattern)].filter((pattern) => typeof pattern === "string");
    const unread = patterns.filter((pattern) => readPattern(pattern) === undefined);
    found.push(...unread.map((pattern) => `${side}${pointerOf(path)}: the pattern ${JSON.stringify(pattern)} cannot be matched in linear time (look-around, back-reference, large count) or is no regular expression; it is not checked`));
    open.push(...subschemas(at).map((sub) => ({ schema: sub.schema, path: [...path, ...sub.path] })));
  }
  return found;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
