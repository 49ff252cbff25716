import { CallgateError } from "@callgate/contract";
import type { JsonSchema, ParseIssue, ParseResult } from "@callgate/contract";
import { pointerOf } from "../lib/json-pointer.ts";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

/** A schema library's schema (zod, valibot, arktype, ...): validates, and says its JSON Schema. */
export type StandardSchema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output>;

/** What a tool's author may give as a schema. */
export type SchemaInput = StandardSchema | JsonSchema;

/** What code behind the schema receives: the parsed type of a Standard Schema, plain JSON otherwise. */
export type Parsed<Schema> = Schema extends StandardSchemaV1<infer _Input, infer Output> ? Output : Record<string, unknown>;

/** What code behind the schema returns, before it is parsed. */
export type Unparsed<Schema> = Schema extends StandardSchemaV1<infer Input, infer _Output> ? Input : unknown;

/** A schema in the two forms the gate uses. */
export interface NormalizedSchema {
  readonly json: JsonSchema;
  /** The library's own validation; absent for a plain JSON Schema. */
  readonly parse?: (value: unknown) => Promise<ParseResult> | ParseResult;
}

type Side = "input" | "output";

/**
 * Brings a schema of any accepted kind into one form.
 *
 * @param owner how errors name the place, e.g. `tool "pay": input`
 * @param side  which of a transforming schema's two types is meant
 *
 * Errors: `CallgateError` TOOL_INVALID when it is no schema or cannot be said as JSON Schema.
 */
export function normalizeSchema(schema: SchemaInput, owner: string, side: Side): NormalizedSchema {
  if (isStandardSchema(schema)) return { json: jsonSchemaOf(schema, owner, side), parse: (value) => parseWith(schema, value) };
  if (typeof schema === "boolean" || (typeof schema === "object" && schema !== null && !Array.isArray(schema))) return { json: schema };
  throw new CallgateError("TOOL_INVALID", `${owner} is not a schema: expected a Standard Schema (zod, valibot, arktype) or a JSON Schema object`);
}

function isStandardSchema(schema: SchemaInput): schema is StandardSchema {
  // arktype's types are functions.
  return (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema;
}

function jsonSchemaOf(schema: StandardSchema, owner: string, side: Side): JsonSchema {
  const props: StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> = schema["~standard"];
  if (props.jsonSchema === undefined) {
    const help =
      props.vendor === "valibot"
        ? "wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema"
        : "use a version of the library that implements Standard JSON Schema, or give a JSON Schema object";
    throw new CallgateError("TOOL_INVALID", `${owner}: this ${props.vendor} schema cannot say its JSON Schema; ${help}`);
  }
  try {
    const { $schema: _dialect, ...json } = props.jsonSchema[side]({ target: "draft-2020-12" });
    return json;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CallgateError("TOOL_INVALID", `${owner}: the ${props.vendor} schema has no JSON Schema form: ${reason}`, { cause });
  }
}

async function parseWith(schema: StandardSchema, value: unknown): Promise<ParseResult> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { kind: "ok", value: result.value };
  return { kind: "invalid", issues: result.issues.map(toIssue) };
}

function toIssue(issue: StandardSchemaV1.Issue): ParseIssue {
  const path = (issue.path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return { message: issue.message, path: pointerOf(path) };
}
