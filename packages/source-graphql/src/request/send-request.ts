import { parseLosslessJson, ToolError, writeLosslessJson } from "@callgate/contract";
import type { JsonObject, JsonValue } from "@callgate/contract";
import { answerError, failureError } from "@callgate/http-client";
import type { Credentials, ErrorScene, HeaderPair, HttpClient } from "@callgate/http-client";
import type { GraphqlRequest } from "./field-document.ts";

/** Where requests are posted to. */
export interface GraphqlService {
  readonly client: HttpClient;
  readonly endpoint: URL;
  readonly credentials?: Credentials;
}

export interface GraphqlAnswer {
  /** Absent: nothing was executed. */
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors: readonly GraphqlFault[];
}

export interface GraphqlFault {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  /** The service's own code, where it gives one. */
  readonly code?: string;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  /** Absent for a query, which can be asked again. */
  readonly idempotencyKey?: string;
}

/**
 * Posts a request and reads the answer, whatever it holds.
 *
 * Errors: `ToolError` for a connection that failed and an answer that is none of GraphQL; `notApplied` where that is certain.
 */
export async function sendRequest({ client, endpoint, credentials }: GraphqlService, request: GraphqlRequest, { signal, idempotencyKey }: SendOptions): Promise<GraphqlAnswer> {
  const isQuery = idempotencyKey === undefined;
  const scene: ErrorScene = { method: "POST", isRepeatable: isQuery, isKeyed: !isQuery, nowMs: Date.now() };
  const headers: readonly HeaderPair[] = [["accept", "application/graphql-response+json, application/json;q=0.9"], ["content-type", "application/json"], ...(isQuery ? [] : [["idempotency-key", idempotencyKey] as const])];
  const result = await client.send({ method: "POST", url: endpoint, headers, body: writeLosslessJson(request), signal, ...(credentials === undefined ? {} : { credentials }) });
  if (result.kind === "failed") throw failureError(result, scene);
  const answer = answerOf(result.bytes);
  if (answer !== undefined && (result.status < 400 || answer.errors.length > 0)) return answer;
  if (result.status < 200 || result.status >= 300) throw answerError(result, scene);
  throw new ToolError({ code: "MALFORMED_ANSWER", message: `The service answered ${result.status} with something that is no GraphQL response`, retryable: false, notApplied: false });
}

function answerOf(bytes: Uint8Array): GraphqlAnswer | undefined {
  let parsed: unknown;
  try {
    parsed = parseLosslessJson(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
  if (!isRecord(parsed) || (parsed["data"] === undefined && !Array.isArray(parsed["errors"]))) return undefined;
  const errors = Array.isArray(parsed["errors"]) ? parsed["errors"].map(faultOf) : [];
  const { data } = parsed;
  return { errors, ...(isRecord(data) || data === null ? { data } : {}) };
}

function faultOf(error: unknown): GraphqlFault {
  const { message, path, extensions } = isRecord(error) ? error : {};
  const code = isRecord(extensions) ? extensions["code"] : undefined;
  return {
    message: typeof message === "string" ? message : "an error without a message",
    ...(Array.isArray(path) ? { path: path.filter((part) => typeof part === "string" || typeof part === "number") } : {}),
    ...(typeof code === "string" ? { code } : {}),
  };
}

const maxToldFaults = 5;
const maxMessageChars = 600;

/** The error of a request that gave no value. Before anything was executed there is no `data`: then nothing was changed. */
export function faultError({ data, errors }: GraphqlAnswer): ToolError {
  const [first] = errors;
  const message = (first?.message ?? "The service gave neither a value nor an error").replaceAll(/\s+/g, " ");
  const code = (first?.code ?? "").toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_").replaceAll(/^[^A-Z]+|_+$/g, "");
  const told = errors.slice(0, maxToldFaults).map((error): JsonObject => ({ ...error, message: error.message.slice(0, maxMessageChars) }) as JsonObject);
  return new ToolError({ code: code === "" ? "GRAPHQL_ERROR" : code, message: message.slice(0, maxMessageChars), retryable: false, notApplied: data === undefined, details: { errors: told as JsonValue } });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
