import type { HeaderPair } from "@callgate/http-client";
import type { HttpOperation } from "../http-operation.ts";
import { requestBody } from "./request-body.ts";
import { parameterHeaders } from "./request-headers.ts";
import { requestUrl } from "./request-url.ts";
import type { Arguments } from "./request-url.ts";

/** A request without its credentials. */
export interface BuiltRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly HeaderPair[];
  readonly body?: string | Uint8Array;
}

/**
 * Makes the request of an operation from the arguments of a call.
 *
 * @param server absolute; its path is the prefix of the request's
 *
 * Errors: `ToolError` INVALID_INPUT for arguments that no request can be made of.
 */
export function buildRequest(operation: HttpOperation, server: URL, args: Arguments): BuiltRequest {
  const body = operation.body === undefined ? undefined : requestBody(operation.body, args);
  const headers = parameterHeaders(operation, args);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const own: readonly HeaderPair[] = [...(names.has("accept") ? [] : [["accept", acceptOf(operation)] as const]), ...(body === undefined ? [] : [["content-type", body.contentType] as const])];
  return { method: operation.method, url: requestUrl(operation, server, args), headers: [...own, ...headers], ...(body === undefined ? {} : { body: body.content }) };
}

/** Media types of answers, what programs can work with first. */
function acceptOf({ responses }: HttpOperation): string {
  const all = new Set(responses.filter(({ status }) => status.startsWith("2")).flatMap(({ mediaTypes }) => mediaTypes).filter((type) => /^[\w.+*-]+\/[\w.+*-]+(?:;[\x20-\x7e]*)?$/.test(type)));
  const json = [...all].filter((type) => /[/+]json\b/i.test(type));
  const others = [...all].filter((type) => !json.includes(type));
  return [...json, ...others].slice(0, 8).join(", ") || "application/json, */*;q=0.5";
}
