import { decodeValue, encodeValueOnce, ValueError } from "@callgate/contract";
import type { GuestError, ValueBounds, WireValue } from "@callgate/contract";
import { emitted } from "../guest-protocol.ts";
import { SafeError, SafeMap, SafePromise, defineProperty, mapDelete, mapGet, mapSet, parse } from "./intrinsics.ts";
import { placeIn } from "./describe-error.ts";
import { ToolError } from "./tool-error.ts";

/** The guest's one way out. Numbers and text only. */
export type Emit = (kind: number, ...values: readonly (string | number)[]) => number | string | undefined;

/** What waits for a completion. */
interface Waiter {
  settle(kind: number, tagged: number, answer: unknown): void;
}

/** `kind` 0 is a value as text, 1 a `GuestError` as JSON, 2 a value that was made outside. */
export type Delivery = [seq: number, kind: number, tagged: number, answer: unknown];

/** Calls that were issued and not yet answered. */
export interface Calls {
  /** A tool or built-in call. Rejects with a ToolError. */
  issue(kind: number, name: string, args: unknown): Promise<unknown>;
  /** A timer; `fire` runs when its completion is delivered. Returns its seq, or -1 when the run has settled. */
  issueTimer(delayMs: number, fire: () => void): number;
  forget(seq: number): void;
  deliver(...answer: Delivery): void;
  limits: { argumentBytes: number };
  /** Whether the host is told where in the program a call was issued. */
  places: { told: boolean };
}

/** The host bounds what it sends; the guest's own memory and CPU limits bound what that can cost here. */
const trustedBounds: ValueBounds = { maxDepth: 1 / 0, maxNodes: 1 / 0, maxChars: 1 / 0 };

export function createCalls(emit: Emit): Calls {
  const waiting = new SafeMap<number, Waiter>();
  const limits = { argumentBytes: 0 };
  const places = { told: false };
  let nextSeq = 0;

  /** seq counts what the host accepted, exactly: it is raised only after the host answered. */
  const register = (accepted: unknown, waiter: Waiter): number => {
    if (accepted !== 1) return -1;
    const seq = nextSeq;
    nextSeq += 1;
    mapSet(waiting, seq as never, waiter as never);
    return seq;
  };

  return {
    limits,
    places,
    issue(kind, name, args) {
      const { stack } = new SafeError();
      return new SafePromise((resolve, reject) => {
        const encoded = encodeArguments(name, args, limits.argumentBytes);
        if (encoded instanceof ToolError) return reject(withStack(encoded, stack));
        const place = places.told ? placeIn(stack) : undefined;
        const accepted = place === undefined ? emit(kind, name, encoded.tagged ? 1 : 0, encoded.json) : emit(kind, name, encoded.tagged ? 1 : 0, encoded.json, place.line, place.column);
        if (accepted === 2) return reject(withStack(argumentsTooLarge(name, limits.argumentBytes), stack));
        register(accepted, {
          settle(outcome, tagged, answer) {
            if (outcome === 2) return resolve(answer);
            const json = answer as string;
            if (outcome === 1) return reject(withStack(toolErrorFrom(json), stack));
            try {
              resolve(decodeValue({ json, tagged: tagged === 1 }, trustedBounds));
            } catch {
              reject(withStack(new ToolError({ code: "VALUE_TOO_LARGE", tool: name, message: `The result of ${name} (${json.length} characters) does not fit the memory of the program; ask for less of it, or page through it` }), stack));
            }
          },
        });
      });
    },
    issueTimer(delayMs, fire) {
      return register(emit(emitted.timer, delayMs), { settle: fire });
    },
    forget(seq) {
      if (mapDelete(waiting, seq as never)) emit(emitted.timerCleared, seq);
    },
    deliver(...answer) {
      const seq = answer[0];
      const waiter = mapGet(waiting, seq as never) as Waiter | undefined;
      if (waiter === undefined) return;
      mapDelete(waiting, seq as never);
      waiter.settle(answer[1], answer[2], answer[3]);
    },
  };
}

function encodeArguments(tool: string, args: unknown, argumentBytes: number): WireValue | ToolError {
  try {
    return encodeValueOnce(args, { maxDepth: 200, maxNodes: 1_000_000, maxChars: argumentBytes });
  } catch (thrown) {
    if (!(thrown instanceof ValueError)) throw thrown;
    if (thrown.bound === "maxChars") return argumentsTooLarge(tool, argumentBytes);
    return new ToolError({ code: thrown.code, tool, message: `The arguments of ${tool} cannot be sent: ${thrown.message}`, details: { path: thrown.path } });
  }
}

/** Shared with the host's own check, which counts UTF-8 bytes. */
function argumentsTooLarge(tool: string, argumentBytes: number): ToolError {
  const message = `The arguments of ${tool} are over the limit of ${argumentBytes} bytes (argumentBytes); the call was not made. Send less, or send it in parts`;
  return new ToolError({ code: "LIMIT_EXCEEDED", tool, message, details: { limit: "argumentBytes", limitValue: argumentBytes } });
}

function toolErrorFrom(json: string): Error {
  const error = parse(json) as GuestError;
  const details = error.details === undefined ? undefined : decodeValue(error.details, trustedBounds);
  return new ToolError({ code: error.code ?? "TOOL_FAILED", message: error.message, tool: error.tool ?? "", retryable: error.retryable === true, details });
}

/** An error made when an answer arrives knows no place in the program: it gets that of the call. */
function withStack(error: Error, stack: string | undefined): Error {
  defineProperty(error, "stack", { __proto__: null, value: stack, writable: true, configurable: true, enumerable: false } as PropertyDescriptor);
  return error;
}
