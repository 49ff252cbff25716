import type { ParseResult, Source, SourceTool, Tool } from "@callgate/contract";
import type { GraphQLSchema } from "graphql";
import { rawQueryName } from "./convert/field-tools.ts";
import type { FieldTool } from "./convert/field-tools.ts";
import { queryRefusal } from "./request/call-service.ts";
import { fieldRequest } from "./request/field-document.ts";

export interface Listing {
  readonly schema: GraphQLSchema;
  readonly callTimeoutMs: number;
  readonly call: Source["call"];
}

/** Repeated only where the failure says that it may be. */
const retry = { retries: 2, minDelayMs: 250, maxDelayMs: 20_000 } as const;
const common = { tags: [], permissions: [], labels: [], version: "0.0.0", examples: [], errors: [], retry } as const;

/** A field as a tool. Its further fields are judged before anything is asked or sent. */
export function listed({ name, description, input, output, effect, deprecated, root }: FieldTool, { schema, callTimeoutMs, call }: Listing): SourceTool {
  const { selectArgument } = root;
  const tool: Tool = {
    ...common,
    name,
    description,
    input,
    output,
    effect,
    ...(deprecated === undefined ? {} : { deprecated }),
    timeoutMs: callTimeoutMs,
    ...(selectArgument === undefined ? {} : { parseInput: (value: unknown) => judged(value, selectArgument, () => refusalOf(fieldRequest(root, (value ?? {}) as Readonly<Record<string, unknown>>, schema))) }),
    handler: (args, context) => call(name, args, context),
  };
  return { tool, claimed: true };
}

function refusalOf(request: ReturnType<typeof fieldRequest>): string | undefined {
  return request.kind === "refused" ? request.message : undefined;
}

function judged(value: unknown, argument: string, refusal: () => string | undefined): ParseResult {
  const message = refusal();
  return message === undefined ? { kind: "ok", value } : { kind: "invalid", issues: [{ message, path: `/${argument}` }] };
}

/** The tool that takes a whole query. */
export function rawTool({ schema, callTimeoutMs, call }: Listing): SourceTool {
  const tool: Tool = {
    ...common,
    name: rawQueryName,
    description: "Sends a whole GraphQL query, checked against the schema before. Queries only: mutations are tools of their own. Gives { data, errors? }.",
    input: {
      type: "object",
      properties: { query: { type: "string", description: "query ($login: String!) { user(login: $login) { name } }" }, variables: { type: "object", additionalProperties: true }, operationName: { type: "string" } },
      required: ["query"],
      additionalProperties: false,
    },
    output: {
      type: "object",
      properties: { data: {}, errors: { type: "array", items: { type: "object", properties: { message: { type: "string" }, path: { type: "array" }, code: { type: "string" } }, required: ["message"] } } },
      required: ["data"],
    },
    effect: "read",
    timeoutMs: callTimeoutMs,
    parseInput: (value) => judged(value, "query", () => queryRefusal((value as { readonly query: string }).query, schema)),
    handler: (args, context) => call(rawQueryName, args, context),
  };
  return { tool, claimed: true };
}
