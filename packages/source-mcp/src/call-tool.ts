import type { ToolContext } from "@callgate/contract";
import { CallgateError, SourceReturn, ToolError, writeLosslessJson } from "@callgate/contract";
import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { readCallError, readCallValue, readWholeAnswer } from "./call-value.ts";
import { RequestLost } from "./connection.ts";
import type { Connector } from "./connector.ts";
import { lostCode, malformedCode, oversizedCode } from "./message-reader.ts";
import { receivedText } from "./received-text.ts";
import type { ResultBody } from "./result-body.ts";

export interface CallToolRequest {
  readonly connector: Connector;
  readonly name: string;
  readonly args: unknown;
  readonly context: ToolContext;
  /** Whether calling again is harmless; only then a lost connection is worth another try. */
  readonly isRead: boolean;
  /** Over HTTP: arguments that are sent as headers too. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `whole`: the value is the whole answer (`readWholeAnswer`). Default: by the rule of `readCallValue`. */
  readonly answers?: "values" | "whole";
  /** Answers what the server wants to know before it answers (`input_required`). Throws `ToolError`. */
  readonly answerInput: (body: ResultBody) => Promise<Readonly<Record<string, unknown>>>;
  /** How long the server may be silent: without the answer, and without a word of progress. Default: until the deadline. */
  readonly idleTimeoutMs?: number;
}

/** Progress is passed on at most this often; a server may flood. */
const PROGRESS_EVERY_MS = 100;
/** A server may ask often; each round is answered by a person. */
const MAX_INPUT_ROUNDS = 10;

/** Calls one tool and gives its value, as a `SourceReturn` where it has artifacts. Throws `ToolError`. */
export async function callTool(request: CallToolRequest): Promise<unknown> {
  const { name } = request;
  let body = await send(request, {});
  for (let round = 0; body["resultType"] === "input_required"; round++) {
    if (round === MAX_INPUT_ROUNDS) throw new ToolError({ code: "INPUT_REQUIRED", message: `The tool still asks for more input after ${MAX_INPUT_ROUNDS} answers` });
    body = await send(request, await request.answerInput(body));
  }
  if (body["isError"] === true) throw readCallError(body, name);
  if (body["structuredContent"] === undefined && !Array.isArray(body["content"])) throw malformed(`It has neither structuredContent nor a list of content. Received: ${receivedText(writeLosslessJson(body))}`, request);
  const { value, artifacts } = (request.answers === "whole" ? readWholeAnswer : readCallValue)(body, name);
  return artifacts.length === 0 ? value : new SourceReturn(value, artifacts);
}

async function send(request: CallToolRequest, answered: Readonly<Record<string, unknown>>): Promise<ResultBody> {
  const { connector, name, context, headers, idleTimeoutMs } = request;
  try {
    return await connector.request(
      "tools/call",
      { name, arguments: request.args ?? {}, _meta: { "callgate/idempotencyKey": context.idempotencyKey, ...context.trace }, ...answered },
      { signal: context.signal, onProgress: progressTo(context), ...(headers === undefined ? {} : { headers }), ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }) },
    );
  } catch (error) {
    throw CallgateError.is(error) ? notReached(error) : requestError(error, request);
  }
}

function progressTo(context: ToolContext): (progress: { readonly progress: number; readonly total?: number; readonly message?: string }) => void {
  let lastMs = -Infinity;
  return ({ progress, total, message }) => {
    const nowMs = performance.now();
    if (nowMs - lastMs < PROGRESS_EVERY_MS) return;
    lastMs = nowMs;
    const text = message ?? (total === undefined ? String(progress) : `${progress}/${total}`);
    const fraction = total === undefined || total <= 0 ? undefined : Math.min(1, Math.max(0, progress / total));
    if (fraction === undefined) context.progress(text);
    else context.progress(text, fraction);
  };
}

/** The call never left: nothing was changed. */
function notReached(error: CallgateError): ToolError {
  const brief = error.details["brief"];
  return new ToolError({
    code: "SOURCE_UNAVAILABLE",
    message: `${typeof brief === "string" ? brief : "The source could not be reached"}. The call did not reach it`,
    retryable: true,
    notApplied: true,
    cause: error,
  });
}

function requestError(error: unknown, request: CallToolRequest): unknown {
  const { name, context, isRead, connector } = request;
  if (context.signal.aborted) return new ToolError({ code: "CANCELLED", message: "The call was given up; the server was told to stop", cause: error });
  if (error instanceof RequestLost) return lost(error, request);
  if (error instanceof ProtocolError && error.code === malformedCode) return malformed(withoutCode(error), request);
  if (error instanceof ProtocolError && error.code !== lostCode) return refused(error, name);
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new ToolError({ code: "TOOL_TIMEOUT", message: `The server was silent for ${(request.idleTimeoutMs ?? 0) / 1000} s: no answer and no progress (idleTimeoutMs). It was told to stop`, retryable: isRead, cause: error });
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
    return new ToolError({ code: "TOOL_FAILED", message: `The server's answer is no valid result: ${error.message.slice(0, 300)}`, cause: error });
  }
  // What an unknown effect means is said by the broker, which knows the tool's effect.
  const how = error instanceof ProtocolError ? withoutCode(error) : connector.lastEnd();
  return new ToolError({
    code: "SOURCE_UNAVAILABLE",
    message: `The MCP server "${connector.namespace}" was lost during the call: ${how}${isRead ? ". It is reached again at the next call" : ""}`,
    retryable: isRead,
    cause: error,
  });
}

/** What became of a call under which HTTP failed. */
function lost({ failure, cause }: RequestLost, { connector, isRead }: CallToolRequest): ToolError {
  const { kind, what, notApplied, isTransient, scope } = failure;
  const login = `callgate auth login ${connector.namespace}`;
  const fix = kind === "sign_in" ? `. Somebody has to sign in: ${login}` : scope === undefined ? "" : `. Somebody has to sign in for that: ${login} ${scope.split(" ").map((one) => `--scope ${one}`).join(" ")}`;
  return new ToolError({
    code: "SOURCE_UNAVAILABLE",
    message: `The MCP server "${connector.namespace}" ${connector.hide(what)}${fix}${notApplied ? ". The call was not taken" : ""}`,
    retryable: isTransient && (isRead || notApplied),
    notApplied,
    ...(scope === undefined ? {} : { details: { scope } }),
    cause,
  });
}

function withoutCode({ message }: Error): string {
  return message.replace(/^MCP error -?\d+: /, "");
}

/** It answered, so it was called: what it did is not known. */
function malformed(what: string, { connector }: CallToolRequest): ToolError {
  return new ToolError({ code: "MALFORMED_ANSWER", message: `The MCP server "${connector.namespace}" answered with what is no answer of the protocol: ${what}. Its author must mend it` });
}

/** A JSON-RPC error answer. -32602 and -32601 are the two a caller can act on. */
function refused(error: ProtocolError, name: string): ToolError {
  if (error.code === oversizedCode) return new ToolError({ code: "VALUE_TOO_LARGE", message: `${error.message}; ask for less (a filter, a page, fewer fields)`, cause: error });
  const code = error.code === -32_602 ? "INVALID_PARAMS" : error.code === -32_601 ? "METHOD_NOT_FOUND" : "TOOL_FAILED";
  return new ToolError({ code, message: `The server refused the call to "${name}": ${error.message.slice(0, 2_000)}`, details: { jsonRpcCode: error.code }, cause: error });
}
