import type { ToolContext } from "@callgate/contract";
import { CallgateError, SourceReturn, ToolError, writeLosslessJson } from "@callgate/contract";
import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { readCallError, readCallValue } from "./call-value.ts";
import type { Connection } from "./connection.ts";
import type { Connector } from "./connector.ts";
import { malformedCode, oversizedCode } from "./message-reader.ts";
import { receivedText } from "./received-text.ts";

export interface CallToolRequest {
  readonly connector: Connector;
  readonly name: string;
  readonly args: unknown;
  readonly context: ToolContext;
  /** Whether calling again is harmless; only then a lost connection is worth another try. */
  readonly isRead: boolean;
}

/** Progress is passed on at most this often; a server may flood. */
const PROGRESS_EVERY_MS = 100;

/** Calls one tool and gives its value, as a `SourceReturn` where it has artifacts. Throws `ToolError`. */
export async function callTool(request: CallToolRequest): Promise<unknown> {
  const { connector, name, context } = request;
  const connection = await connector.get(context.signal).catch((error: unknown) => {
    throw notReached(error);
  });
  const body = await connection
    .request(
      "tools/call",
      { name, arguments: request.args ?? {}, _meta: { "callgate/idempotencyKey": context.idempotencyKey, ...context.trace } },
      { signal: context.signal, onProgress: progressTo(context) },
    )
    .catch((error: unknown) => {
      throw requestError(error, request, connection);
    });
  if (body["isError"] === true) throw readCallError(body, name);
  if (body["structuredContent"] === undefined && !Array.isArray(body["content"])) throw malformed(`It has neither structuredContent nor a list of content. Received: ${receivedText(writeLosslessJson(body))}`, request);
  const { value, artifacts } = readCallValue(body, name);
  return artifacts.length === 0 ? value : new SourceReturn(value, artifacts);
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
function notReached(error: unknown): unknown {
  if (!CallgateError.is(error)) return error;
  const brief = error.details["brief"];
  return new ToolError({
    code: "SOURCE_UNAVAILABLE",
    message: `${typeof brief === "string" ? brief : "The source could not be reached"}. The call did not reach it`,
    retryable: true,
    notApplied: true,
    cause: error,
  });
}

function requestError(error: unknown, request: CallToolRequest, connection: Connection): unknown {
  const { name, context, isRead } = request;
  if (context.signal.aborted) return new ToolError({ code: "CANCELLED", message: "The call was given up; the server was told to stop", cause: error });
  if (error instanceof ProtocolError) return error.code === malformedCode ? malformed(error.message.replace(/^MCP error -?\d+: /, ""), request) : refused(error, name);
  if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType) {
    return new ToolError({ code: "INPUT_REQUIRED", message: "The tool asks a person for more input before it answers, which is not possible here. Give it in the arguments if the tool has one for it", cause: error });
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) {
    return new ToolError({ code: "TOOL_FAILED", message: `The server's answer is no valid result: ${error.message.slice(0, 300)}`, cause: error });
  }
  // What an unknown effect means is said by the broker, which knows the tool's effect.
  const how = connection.trace.ended() ?? "it closed the connection";
  return new ToolError({
    code: "SOURCE_UNAVAILABLE",
    message: `The MCP server "${request.connector.namespace}" was lost during the call: ${how}${isRead ? ". It is started again at the next call" : ""}`,
    retryable: isRead,
    cause: error,
  });
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
