import { decodeValue, encodeValue, ValueError } from "@callgate/contract";
import type { GuestCall, GuestCompletion, RunWait } from "@callgate/contract";
import { guestErrorOf } from "./guest-error.ts";

type Builtin = Extract<GuestCall, { kind: "builtin" }>;
type Failed = Extract<GuestCompletion["result"], { kind: "error" }>;

export interface ReadWait {
  readonly kind: "wait";
  readonly wait: Extract<RunWait, { kind: "timer" | "event" }>;
  /** What the program gets when the time is over. */
  readonly whenOver: GuestCompletion["result"];
}

/** Ten years: longer is a mistake of units. */
const maxWaitMs = 10 * 365 * 86_400_000;
const maxNameChars = 200;

/**
 * Reads what `sleep` and `waitFor` were called with.
 *
 * @param issuedMs the guest's clock by then: a run that goes on later counts from there
 */
export function readWait(call: Builtin, issuedMs: number): ReadWait | Failed {
  const args = argumentsOf(call);
  return call.name === "sleep" ? readSleep(call, args, issuedMs) : readEvent(call, args, issuedMs);
}

function readSleep(call: Builtin, { ms, untilMs }: Arguments, issuedMs: number): ReadWait | Failed {
  const until = typeof ms === "number" ? issuedMs + Math.max(0, ms) : untilMs;
  if (typeof until !== "number" || !Number.isFinite(until)) return failed("INVALID_INPUT", "sleep", "sleep needs milliseconds from now, as a number, or a Date");
  if (until - issuedMs > maxWaitMs) return failed("INVALID_INPUT", "sleep", "sleep takes at most ten years; its number is milliseconds");
  return { kind: "wait", wait: { kind: "timer", seq: call.seq, untilMs: until }, whenOver: { kind: "value", value: encodeValue(undefined) } };
}

function readEvent(call: Builtin, { event, timeoutMs }: Arguments, issuedMs: number): ReadWait | Failed {
  if (typeof event !== "string" || event === "" || event.length > maxNameChars) return failed("INVALID_INPUT", "waitFor", `waitFor needs the name of an event, a string of 1 to ${maxNameChars} characters`);
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs >= 0 && timeoutMs <= maxWaitMs)) return failed("INVALID_INPUT", "waitFor", "timeoutMs must be a number of milliseconds from 0 to ten years");
  const whenOver = failed("WAIT_TIMED_OUT", "waitFor", `No event "${event}" came within ${String(timeoutMs)} ms`);
  return { kind: "wait", wait: { kind: "event", seq: call.seq, name: event, occurrence: 0, ...(timeoutMs === undefined ? {} : { untilMs: issuedMs + timeoutMs }) }, whenOver };
}

type Arguments = Readonly<Record<string, unknown>>;

function argumentsOf({ args }: Builtin): Arguments {
  try {
    const decoded = decodeValue(args);
    return typeof decoded === "object" && decoded !== null ? (decoded as Arguments) : {};
  } catch (fault) {
    if (fault instanceof ValueError) return {};
    throw fault;
  }
}

function failed(code: string, tool: string, message: string): Failed {
  return { kind: "error", error: guestErrorOf({ code, message, tool, retryable: false }) };
}
