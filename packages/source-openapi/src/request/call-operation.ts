import { SourceReturn } from "@callgate/contract";
import type { ToolContext } from "@callgate/contract";
import { answerError, failureError } from "@callgate/http-client";
import type { Credentials, ErrorScene, HeaderPair, HttpBounds, HttpClient } from "@callgate/http-client";
import type { HttpOperation } from "../http-operation.ts";
import { nextArguments } from "../paging/next-arguments.ts";
import type { PagingRule } from "../paging/paging-rule.ts";
import { buildRequest } from "./build-request.ts";
import { isPlainObject } from "./plain-object.ts";
import { readAnswer } from "./read-answer.ts";

/** Where an operation is called. */
export interface OperationService {
  readonly client: HttpClient;
  /** Absolute; its path is the prefix of every request's. */
  readonly server: URL;
  readonly credentials?: Credentials;
  /** Sent with every request. */
  readonly headers?: readonly HeaderPair[];
  readonly bounds?: Partial<HttpBounds>;
}

export interface OperationCall {
  readonly operation: HttpOperation;
  readonly args: unknown;
  readonly context: ToolContext;
  /** Set for a tool that is `paged`: it gives `{ page, next? }`. */
  readonly paging?: PagingRule;
}

/** How often a call is repeated where that is safe, and how long a service may ask to wait. For `ToolSpec.retry` of operations. */
export const operationRetry = { retries: 2, minDelayMs: 250, maxDelayMs: 20_000 } as const;

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]);

/**
 * Calls an operation of a service and gives what it answered, as a `SourceReturn` where it is a file.
 *
 * Every failure is a `ToolError`: `HTTP_<status>` for an answer that is no success, INVALID_INPUT for arguments that no
 * request can be made of, SOURCE_UNAVAILABLE, REQUEST_REFUSED, REDIRECT_REFUSED, AUTH_NEEDED, VALUE_TOO_LARGE and
 * MALFORMED_ANSWER. `notApplied` is set where the service said so, or never got the request; `retryable` only where to
 * ask again is safe.
 */
export async function callOperation(service: OperationService, call: OperationCall): Promise<unknown> {
  const { operation, context, paging } = call;
  const args = isPlainObject(call.args) ? call.args : {};
  const request = buildRequest(operation, service.server, args);
  const isSafe = safeMethods.has(operation.method);
  const headers = [...(service.headers ?? []), ...request.headers, ...(isSafe ? [] : [[operation.idempotencyHeader ?? "idempotency-key", context.idempotencyKey] as const])];
  const scene: ErrorScene = { method: operation.method, isRepeatable: isSafe || operation.idempotencyHeader !== undefined, isKeyed: !isSafe, nowMs: Date.now() };
  const { client, credentials, bounds } = service;
  const result = await client.send({ ...request, headers, signal: context.signal, ...(credentials === undefined ? {} : { credentials }), ...(bounds === undefined ? {} : { bounds }) });
  if (result.kind === "failed") throw failureError(result, scene);
  if (result.status < 200 || result.status >= 300) throw answerError(result, scene);
  if (operation.method === "HEAD") return { status: result.status, headers: Object.fromEntries(result.headers) };
  const { value, artifacts } = readAnswer(result);
  if (artifacts.length > 0) return new SourceReturn(value, artifacts);
  if (paging === undefined) return value;
  const next = nextArguments(paging, { operation, args, body: value, headers: result.headers, url: request.url });
  return { page: value, ...(next === undefined ? {} : { next }) };
}
