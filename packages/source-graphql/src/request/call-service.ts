import { ToolError } from "@callgate/contract";
import type { ToolContext } from "@callgate/contract";
import { validate } from "graphql";
import type { GraphQLSchema } from "graphql";
import type { FieldTool } from "../convert/field-tools.ts";
import { fieldRequest } from "./field-document.ts";
import { parseQuery, placed } from "./parse-selection.ts";
import { faultError, sendRequest } from "./send-request.ts";
import type { GraphqlService } from "./send-request.ts";

export interface Calling {
  readonly schema: GraphQLSchema;
  readonly context: ToolContext;
}

/** Calls one field and gives its value. Errors: `ToolError`. */
export async function callField(service: GraphqlService, { tool, args }: { readonly tool: FieldTool; readonly args: Readonly<Record<string, unknown>> }, { schema, context }: Calling): Promise<unknown> {
  const request = fieldRequest(tool.root, args, schema);
  if (request.kind === "refused") throw new ToolError({ code: "INVALID_INPUT", message: request.message, notApplied: true });
  const answer = await sendRequest(service, request.tree, { signal: context.signal, ...(tool.root.operation === "query" ? {} : { idempotencyKey: context.idempotencyKey }) });
  const value = answer.data?.[tool.root.field.name];
  if (value === undefined || (value === null && answer.errors.length > 0)) throw faultError(answer);
  // Parts that could not be had are null, as the schema says they may be.
  for (const { message, path = [] } of answer.errors) context.log.warn(`${tool.name}: ${path.join(".")} could not be had: ${message}`);
  return value;
}

/** Sends a whole query and gives `{ data, errors? }`. Errors: `ToolError`; INVALID_INPUT for anything that is no query of the schema. */
export async function callRaw(service: GraphqlService, { query, variables, operationName }: Readonly<Record<string, unknown>>, { schema, context }: Calling): Promise<unknown> {
  const text = typeof query === "string" ? query : "";
  const refusal = queryRefusal(text, schema);
  if (refusal !== undefined) throw new ToolError({ code: "INVALID_INPUT", message: refusal, notApplied: true });
  const request = { query: text, variables: (variables ?? {}) as Readonly<Record<string, unknown>>, ...(typeof operationName === "string" ? { operationName } : {}) };
  const answer = await sendRequest(service, request, { signal: context.signal });
  if (answer.data === undefined || answer.data === null) throw faultError(answer);
  return { data: answer.data, ...(answer.errors.length === 0 ? {} : { errors: answer.errors }) };
}

/** Why a text is not sent; undefined for a query of the schema. */
export function queryRefusal(text: string, schema: GraphQLSchema): string | undefined {
  const parsed = parseQuery(text);
  if (parsed.kind === "refused") return parsed.message;
  const [error] = validate(schema, parsed.tree, undefined, { maxErrors: 1 });
  return error === undefined ? undefined : placed(error);
}
