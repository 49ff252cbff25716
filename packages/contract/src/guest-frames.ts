import type { ArtifactInput } from "./artifact.ts";
import type { LimitName } from "./limits.ts";
import type { WireValue } from "./value-codec.ts";

/** Version of the frames below; host and guest must agree exactly. */
export const guestProtocolVersion = 1;

/**
 * Something the guest asks of the host. `seq` counts from 0 in issue order; under the pump it is the call's identity
 * over replays (DESIGN D7). Timers and built-ins count too, because their completions are recorded as well.
 *
 * `atMs` is the guest's clock when it was issued: a run that goes on later counts a wait from there, not anew. A driver
 * that leaves it out has its waits counted from the last completion it was handed.
 */
export type GuestCall =
  | ({ readonly kind: "tool"; readonly seq: number; readonly tool: string; readonly args: WireValue } & CallPlace)
  | ({ readonly kind: "builtin"; readonly seq: number; readonly name: GuestBuiltin; readonly args: WireValue; readonly atMs?: number } & CallPlace)
  | { readonly kind: "timer"; readonly seq: number; readonly delayMs: number; readonly atMs?: number };

/** Where a call was issued in the executed text, from 1. Only of a job with `places`, and of a driver that knows it. */
export interface CallPlace {
  readonly line?: number;
  readonly column?: number;
}

/**
 * Built-ins and their arguments, always one object:
 *
 * - `search`: `{ query, limit?, namespace?, detail? }`, from `tools.search(query, options?)`
 * - `describe`: `{ names }`, from `tools.describe(names)`; one name arrives as a list of one
 * - `read_result`: `{ handle, path?, offset?, limit?, grep?, search? }`, from `results.read(handle, options?)`
 * - `sleep`: `{ ms }` or `{ untilMs }`, from `sleep(ms)` or `sleep(date)`; the run may be suspended meanwhile
 * - `wait_for`: `{ event, timeoutMs? }`, from `waitFor(event, options?)`: the payload somebody sends to the run under that
 *   name; WAIT_TIMED_OUT when none came in time
 *
 * Options are passed on as the program wrote them: the host validates them.
 */
export type GuestBuiltin = "search" | "describe" | "read_result" | "sleep" | "wait_for";

/** The answer to one `GuestCall`. `atMs` becomes the guest's `Date.now()`. */
export interface GuestCompletion {
  readonly seq: number;
  readonly atMs: number;
  readonly result: { readonly kind: "value"; readonly value: WireValue } | { readonly kind: "error"; readonly error: GuestError };
}

/** An error as it crosses the wall, both ways. */
export interface GuestError {
  /** `Error`, `TypeError`, `ToolError`, ... or `NonError` for a thrown value that is none. */
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  readonly tool?: string;
  readonly retryable?: boolean;
  readonly details?: WireValue;
  /** Place in the executed text, from 1. The run maps it to the model's own text. */
  readonly line?: number;
  readonly column?: number;
}

export interface GuestConsoleEntry {
  readonly level: "log" | "info" | "warn" | "error" | "debug";
  /** Rendered inside the guest; control characters are kept and made harmless by whoever prints them. */
  readonly text: string;
  /** The line goes on: no line break followed the text. */
  readonly partial?: true;
  /** Bytes of output that were left out between the entry before and this one. */
  readonly droppedBefore?: number;
}

/** A connection that a program made or tried to make through its sandbox's way out. */
export interface GuestConnection {
  readonly host: string;
  readonly port: number;
  readonly verdict: "allowed" | "denied";
  /** Why it was denied, such as `not-in-allow` or `denied-range`. */
  readonly rule?: string;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** What a guest emits besides calls. `text()` and `progress()` of the program end up here. */
export type GuestOutput =
  | { readonly kind: "console"; readonly entry: GuestConsoleEntry }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "progress"; readonly message: string; readonly fraction?: number }
  /** Console and progress output beyond `consoleBytes` that was left out, said once, at the end. */
  | { readonly kind: "console-dropped"; readonly droppedBytes: number }
  /** Said when it is refused, or is over. */
  | { readonly kind: "connection"; readonly connection: GuestConnection }
  /** A file the program made. The driver bounds their number and size. */
  | { readonly kind: "artifact"; readonly artifact: ArtifactInput };

/** How a guest ended. After it nothing of the guest lives, and none of its calls is accepted. */
export type GuestEnd =
  | { readonly kind: "returned"; readonly value: WireValue }
  | { readonly kind: "threw"; readonly error: GuestError }
  /** The program awaits something that can no longer happen: no call, no timer is open. */
  | { readonly kind: "stalled" }
  | { readonly kind: "limit"; readonly limit: LimitName; readonly limitValue: number; readonly message: string }
  | { readonly kind: "cancelled" }
  | {
      readonly kind: "crashed";
      readonly message: string;
      /** Name of the signal that ended the guest's process, where it has one. */
      readonly signal?: string;
      /** The program that was to run it and is not there: an interpreter. */
      readonly missingProgram?: string;
    };
