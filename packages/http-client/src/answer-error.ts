import { ToolError } from "@callgate/contract";
import type { JsonObject, JsonValue } from "@callgate/contract";
import type { HttpAnswer, HttpFailure } from "./http-result.ts";
import { bareType, isJsonType, isTextType, textOf } from "./media-type.ts";
import { shownUrl } from "./shown-url.ts";

export interface ErrorScene {
  readonly method: string;
  /** Asking again changes nothing more: a safe method, or a service that tells repetitions by the key it is sent. */
  readonly isRepeatable: boolean;
  /** An idempotency key went along. */
  readonly isKeyed: boolean;
  /** Milliseconds since the Unix epoch, for Retry-After as a date. */
  readonly nowMs: number;
}

/** Statuses with which a service says that it did not do what it was asked. 408, 424, 499 and 409 under a key do not say that. */
const notApplied: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 425, 426, 428, 429, 431, 451]);
/** That may pass by themselves. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const maxExcerptChars = 600;
const maxDetailChars = 4_000;

/** The error of an answer that is no success: its code is `HTTP_<status>`; status, and the body as far as it is short, are in the details. */
export function answerError(answer: HttpAnswer, scene: ErrorScene): ToolError {
  const { status, headers, url } = answer;
  const isNotApplied = notApplied.has(status) && !(status === 409 && scene.isKeyed);
  const retryAfterMs = retryAfterOf(headers.get("retry-after"), scene.nowMs);
  const body = bodyOf(answer);
  const excerpt = body === undefined ? "" : `: ${body.excerpt}`;
  return new ToolError({
    code: `HTTP_${status}`,
    message: `${scene.method} ${shownUrl(url)} answered ${status}${excerpt}`,
    retryable: passing.has(status) && (isNotApplied || scene.isRepeatable),
    notApplied: isNotApplied,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    details: { status, ...(body?.detail === undefined ? {} : { body: body.detail }) },
  });
}

/** The error of a request that got no answer. */
export function failureError(failure: HttpFailure, { isRepeatable }: ErrorScene): ToolError {
  const { reason, message, isSent, isTransient } = failure;
  return new ToolError({ code: codeOf(failure), message: isSent ? message : `${message}. The request was not sent`, notApplied: !isSent, retryable: isTransient && (!isSent || isRepeatable), details: { reason } });
}

function codeOf({ reason, isTransient }: HttpFailure): string {
  switch (reason) {
    case "refused":
      return "REQUEST_REFUSED";
    case "redirect":
      return "REDIRECT_REFUSED";
    case "credentials":
      return isTransient ? "SOURCE_UNAVAILABLE" : "AUTH_NEEDED";
    case "aborted":
      return "CANCELLED";
    case "too_large":
      return "VALUE_TOO_LARGE";
    case "malformed":
      return "MALFORMED_ANSWER";
    case "unresolved":
    case "unreachable":
    case "certificate":
    case "timed_out":
    case "lost":
      return "SOURCE_UNAVAILABLE";
  }
}

/** Seconds, or a date. */
function retryAfterOf(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

interface ErrorBody {
  /** For the message. */
  readonly excerpt: string;
  readonly detail?: JsonValue;
}

function bodyOf({ bytes, headers }: HttpAnswer): ErrorBody | undefined {
  const contentType = headers.get("content-type") ?? "";
  if (bytes.byteLength === 0 || (contentType !== "" && !isTextType(contentType))) return undefined;
  const text = textOf(bytes, contentType).trim();
  if (text === "") return undefined;
  if (bareType(contentType) === "text/html") {
    const [, title = "a page of HTML"] = /<title[^>]*>([^<]{1,200})/i.exec(text) ?? [];
    return { excerpt: cut(title, maxExcerptChars) };
  }
  if (contentType === "" || isJsonType(contentType)) {
    const parsed = parsedOf(text);
    if (parsed !== undefined) return { excerpt: cut(wordsOf(parsed) ?? text, maxExcerptChars), ...(text.length <= maxDetailChars ? { detail: parsed } : { detail: cut(text, maxDetailChars) }) };
  }
  return { excerpt: cut(text, maxExcerptChars), ...(text.length > maxExcerptChars ? { detail: cut(text, maxDetailChars) } : {}) };
}

function parsedOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The sentence of an error object, under the names that services use (RFC 9457 among them). */
function wordsOf(value: JsonValue): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const object = value as JsonObject;
  for (const name of ["message", "detail", "error_description", "error", "title", "reason"]) {
    const inner = Object.hasOwn(object, name) ? object[name] : undefined;
    const words = inner === undefined ? undefined : wordsOf(inner);
    if (words !== undefined && words !== "") return Object.keys(object).length > 1 && name !== "error" ? `${words} ${JSON.stringify(object)}` : words;
  }
  return undefined;
}

function cut(text: string, maxChars: number): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= maxChars ? line : `${line.slice(0, maxChars)}…`;
}
