import { callErrorCodes, ToolError } from "@callgate/contract";
import type { JsonObject, ToolErrorSpec } from "@callgate/contract";
import type { SafeText } from "./safe-text.ts";

/** What a tool threw, as plain words that may leave the gate. */
export interface Thrown {
  readonly code: string;
  readonly message: string;
  /** Undefined when nobody said: a plain throw tells nothing about it. */
  readonly retryable: boolean | undefined;
  /** From when on trying again makes sense, as the tool says. */
  readonly retryAfterMs?: number;
  /** The tool is sure that nothing was changed. */
  readonly notApplied: boolean;
  readonly details?: JsonObject;
}

const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;
const MAX_CAUSES = 8;

/**
 * Reads whatever a tool threw. A `ToolError` passes through with its code; anything else is TOOL_FAILED with its message
 * and, in `details.causes`, the chain of causes and aggregated errors as flat `{ name, message, code }`. No stack, no
 * prototype, no getter of the thrown thing survives; reading it never throws.
 */
export function readThrown(error: unknown, declared: readonly ToolErrorSpec[], safe: SafeText): Thrown {
  try {
    return ToolError.is(error) ? ofToolError(error, declared, safe) : ofOther(error, safe);
  } catch {
    return { code: "TOOL_FAILED", message: "The tool threw something that cannot be read", retryable: undefined, notApplied: false };
  }
}

function ofToolError(error: ToolError, declared: readonly ToolErrorSpec[], safe: SafeText): Thrown {
  const code = typeof error.code === "string" && CODE.test(error.code) ? error.code : "TOOL_FAILED";
  const spec = declared.find((candidate) => candidate.code === code);
  const retryAfterMs = waitOf(error.retryAfterMs);
  const told = safe.json(error.details);
  const details = retryAfterMs === undefined ? told : { ...told, retryAfterMs };
  return {
    code,
    message: safe.text(String(error.message)) || spec?.description || (Object.hasOwn(callErrorCodes, code) ? callErrorCodes[code as keyof typeof callErrorCodes] : code),
    retryable: error.retryable || (spec?.retryable ?? false),
    notApplied: error.notApplied,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(details === undefined ? {} : { details }),
  };
}

function waitOf(ms: unknown): number | undefined {
  return typeof ms === "number" && ms >= 0 && Number.isFinite(ms) ? Math.ceil(ms) : undefined;
}

function ofOther(error: unknown, safe: SafeText): Thrown {
  const thrown = { code: "TOOL_FAILED", retryable: undefined, notApplied: false };
  if (typeof error !== "object" || error === null) {
    return { ...thrown, message: safe.text(`The tool threw ${typeof error === "string" ? `"${error}"` : String(error)} instead of an error`) };
  }
  const head = flat(error, safe);
  const causes = chainOf(error).map((cause) => flat(cause, safe));
  const details: JsonObject = { ...(head.code === undefined ? {} : { code: head.code }), ...(causes.length === 0 ? {} : { causes }) };
  return { ...thrown, message: because(head.message || `The tool threw a ${head.name} without a message`, causes[0]), ...(Object.keys(details).length === 0 ? {} : { details }) };
}

/** `fetch failed` alone says nothing; its cause does. A message that quotes its cause is left as it is. */
function because(message: string, cause: ReturnType<typeof flat> | undefined): string {
  const why = cause === undefined ? "" : cause.message || (cause.code ?? "");
  return why === "" || message.includes(why) ? message : `${message.replace(/\.$/, "")}: ${why}`;
}

interface Flat extends JsonObject {
  readonly name: string;
  readonly message: string;
}

function flat(error: unknown, safe: SafeText): Flat & { readonly code?: string } {
  if (typeof error !== "object" || error === null) return { name: typeof error, message: safe.text(String(error)) };
  const { name, message, code } = error as { name?: unknown; message?: unknown; code?: unknown };
  return {
    name: typeof name === "string" ? safe.text(name).slice(0, 100) : "object",
    message: typeof message === "string" ? safe.text(message) : "",
    ...(typeof code === "string" || typeof code === "number" ? { code: safe.text(String(code)).slice(0, 100) } : {}),
  };
}

/** Causes and aggregated errors, nearest first; bounded, and cycles end it. */
function chainOf(error: object): readonly unknown[] {
  const seen = new Set<unknown>([error]);
  const queue: unknown[] = [error];
  const found: unknown[] = [];
  for (let next = queue.shift(); next !== undefined && found.length < MAX_CAUSES; next = queue.shift()) {
    if (typeof next !== "object" || next === null) continue;
    const { cause, errors } = next as { cause?: unknown; errors?: unknown };
    for (const inner of [cause, ...(Array.isArray(errors) ? errors.slice(0, MAX_CAUSES) : [])]) {
      if (inner === undefined || seen.has(inner) || found.length >= MAX_CAUSES) continue;
      seen.add(inner);
      found.push(inner);
      queue.push(inner);
    }
  }
  return found;
}
