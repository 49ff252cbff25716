import type { GuestBuiltin, GuestConsoleEntry, GuestError, LimitName, WireValue } from "@callgate/contract";
import { defaultLimits } from "@callgate/contract";
import { mimeTypeOf } from "../output/mime-type.ts";
import { FrameError } from "./frame-splitter.ts";
import type { RawFrame } from "./frame-splitter.ts";

/** What a guest says; docs/reference/guest-protocol.md. Every field was checked, every value is still text. */
export type GuestFrame =
  | { readonly kind: "hello"; readonly protocol: number; readonly language: string; readonly version: string }
  | { readonly kind: "call"; readonly seq: number; readonly name: string; readonly args: WireValue }
  | { readonly kind: "builtin"; readonly seq: number; readonly name: GuestBuiltin; readonly args: WireValue }
  | { readonly kind: "timer"; readonly seq: number; readonly delayMs: number }
  | { readonly kind: "blocked"; readonly delivered: number }
  | { readonly kind: "stream"; readonly stream: 1 | 2; readonly bytes: Buffer }
  | { readonly kind: "console"; readonly level: GuestConsoleEntry["level"]; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "progress"; readonly message: string; readonly fraction?: number }
  | { readonly kind: "artifact"; readonly name: string; readonly mimeType: string; readonly bytes: Buffer }
  | { readonly kind: "returned"; readonly value: WireValue }
  | { readonly kind: "threw"; readonly error: GuestError }
  | { readonly kind: "stalled" }
  | { readonly kind: "limit"; readonly limit: LimitName };

type Head = Readonly<Record<string, unknown>>;

const builtins: readonly string[] = ["search", "describe", "read_result", "sleep", "wait_for"] satisfies GuestBuiltin[];
const levels: readonly string[] = ["log", "info", "warn", "error", "debug"] satisfies GuestConsoleEntry["level"][];
const maxNameChars = 400;
const maxMessageChars = 16_500;
const maxDetailsChars = 512 * 1024;

/** Reads one frame of a guest that may be hostile. Throws `FrameError`. */
export function parseGuestFrame({ head: text, payload }: RawFrame): GuestFrame {
  const head = parseHead(text);
  const kind = textOf(head, "k", 20);
  switch (kind) {
    case "hello":
      return { kind, protocol: numberOf(head, "protocol"), language: textOf(head, "language", 40), version: textOf(head, "version", 100) };
    case "call":
      return { kind, seq: wholeOf(head, "seq"), name: textOf(head, "name", maxNameChars), args: wireOf(head, payload) };
    case "builtin":
      return { kind, seq: wholeOf(head, "seq"), name: oneOf(head, "name", builtins) as GuestBuiltin, args: wireOf(head, payload) };
    case "timer":
      return { kind, seq: wholeOf(head, "seq"), delayMs: Math.min(Math.max(0, numberOf(head, "delayMs")), 2 ** 31 - 1) };
    case "blocked":
      return { kind, delivered: wholeOf(head, "delivered") };
    case "stream":
      return { kind, stream: head["stream"] === 2 ? 2 : 1, bytes: payload };
    case "console":
      return { kind, level: oneOf(head, "level", levels) as GuestConsoleEntry["level"], text: payload.toString("utf8") };
    case "text":
      return { kind, text: payload.toString("utf8") };
    case "progress":
      return { kind, message: textOf(head, "message", maxMessageChars), ...(head["fraction"] === undefined ? {} : { fraction: numberOf(head, "fraction") }) };
    case "artifact":
      return { kind, name: textOf(head, "name", 4_096), mimeType: textOf(head, "mimeType", 200) || mimeTypeOf(textOf(head, "name", 4_096)), bytes: payload };
    case "returned":
      return { kind, value: wireOf(head, payload) };
    case "threw":
      return { kind, error: errorOf(head["error"]) };
    case "stalled":
      return { kind };
    case "limit":
      return { kind, limit: oneOf(head, "limit", Object.keys(defaultLimits)) as LimitName };
    default:
      throw new FrameError(`an unknown frame "${kind}" came`);
  }
}

/** The head of a frame of either protocol. Throws `FrameError`. */
export function parseHead(text: string): Head {
  let head: unknown;
  try {
    head = JSON.parse(text);
  } catch {
    throw new FrameError("the head of a frame is not JSON");
  }
  if (typeof head !== "object" || head === null || Array.isArray(head)) throw new FrameError("the head of a frame is not an object");
  return head as Head;
}

function textOf(head: Head, name: string, maxChars: number): string {
  const value = own(head, name);
  if (typeof value !== "string" || value.length > maxChars) throw new FrameError(`a frame has no good "${name}"`);
  return value;
}

function numberOf(head: Head, name: string): number {
  const value = own(head, name);
  if (typeof value !== "number" || !Number.isFinite(value)) throw new FrameError(`a frame has no good "${name}"`);
  return value;
}

function wholeOf(head: Head, name: string): number {
  const value = numberOf(head, name);
  if (!Number.isSafeInteger(value) || value < 0) throw new FrameError(`a frame has no good "${name}"`);
  return value;
}

function oneOf(head: Head, name: string, known: readonly string[]): string {
  const value = textOf(head, name, 40);
  if (!known.includes(value)) throw new FrameError(`a frame has no good "${name}"`);
  return value;
}

function own(head: Head, name: string): unknown {
  return Object.hasOwn(head, name) ? head[name] : undefined;
}

function wireOf(head: Head, payload: Buffer): WireValue {
  return { json: payload.toString("utf8"), tagged: own(head, "tagged") === true };
}

function errorOf(value: unknown): GuestError {
  if (typeof value !== "object" || value === null) throw new FrameError("an error without fields came");
  const error = value as Head;
  const details = own(error, "details");
  const optional = {
    code: optionalText(error, "code"),
    tool: optionalText(error, "tool"),
    retryable: typeof own(error, "retryable") === "boolean" ? own(error, "retryable") : undefined,
    details: isWire(details) ? { json: details.json, tagged: details.tagged } : undefined,
    line: placeOf(error, "line"),
    column: placeOf(error, "column"),
  };
  const given = Object.fromEntries(Object.entries(optional).filter(([, field]) => field !== undefined));
  return { name: textOf(error, "name", maxNameChars), message: textOf(error, "message", maxMessageChars), ...given };
}

function optionalText(error: Head, name: string): string | undefined {
  return own(error, name) === undefined ? undefined : textOf(error, name, maxNameChars);
}

function placeOf(error: Head, name: string): number | undefined {
  const value = own(error, name);
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function isWire(value: unknown): value is WireValue {
  if (typeof value !== "object" || value === null) return false;
  const { json, tagged } = value as { json?: unknown; tagged?: unknown };
  return typeof json === "string" && json.length <= maxDetailsChars && typeof tagged === "boolean";
}
