import { encodeValue } from "@callgate/contract";
import type { DeliveredCall, GuestCall, GuestCompletion, RecordedValue } from "@callgate/contract";
import type { PerformedCall } from "../broker/call.ts";
import { digestOfWire } from "../lib/digest.ts";
import { answerBuiltin } from "./builtins.ts";
import type { BuiltinReader } from "./builtins.ts";
import { guestErrorOf } from "./guest-error.ts";
import type { RunScope } from "./run-scope.ts";
import type { TokenMeter } from "./token-meter.ts";
import { createToolQueue } from "./tool-queue.ts";
import type { ToolCall } from "./tool-call.ts";
import type { Settling } from "./tool-queue.ts";

/** A completion that is ready to be delivered, and what its record says of the call. */
export interface Answered {
  readonly seq: number;
  readonly call: DeliveredCall;
  readonly result: GuestCompletion["result"];
  /** Absent for tools: theirs is the broker's `call-ended`. */
  readonly answer?: RecordedValue;
}

export interface CallDeskOptions {
  readonly reader: BuiltinReader;
  /** Must not throw. */
  readonly ready: (answered: Answered) => void;
  /** The program made more calls than it may. */
  readonly tooManyCalls: () => void;
}

/** Answers what a guest asks for, live: tools through the broker, the rest here. */
export interface CallDesk {
  issue(calls: readonly GuestCall[]): void;
  /**
   * The guest is gone or has to go: no call is taken any more, timers are dropped. `drain` lets writes that were issued
   * come to their end (a floating write must not become one of unknown effect) and aborts reads, whose value nobody
   * waits for; `abort` aborts all and refuses what has not begun. Resolves when every call has ended or, after `abort`,
   * the grace is over. May be called again with `abort`.
   */
  settle(how: Settling): Promise<void>;
  readonly calls: readonly ToolCall[];
  readonly meter: TokenMeter;
}

export function createCallDesk(scope: RunScope, { reader, ready, tooManyCalls }: CallDeskOptions): CallDesk {
  const timers = createTimers(scope, ready);
  const tools = createToolQueue(scope, ({ seq, tool }, performed) => {
    ready({ seq, call: { kind: "tool", tool, argsDigest: performed.argsDigest }, result: resultOf(performed) });
  });
  let taking = true;

  function issueTool(call: Extract<GuestCall, { kind: "tool" }>): void {
    const isOver = tools.calls.length >= scope.limits.calls;
    if (taking && !isOver) return tools.issue(call);
    // A guest that is being ended may issue thousands more; these are enough to tell.
    if (tools.calls.length < scope.limits.calls + maxRefused) tools.refuse(call);
    if (taking) tooManyCalls();
  }

  return {
    calls: tools.calls,
    meter: tools.meter,
    issue(calls) {
      for (const call of calls) {
        if (call.kind === "tool") issueTool(call);
        else if (!taking) continue;
        else if (call.kind === "timer") timers.start(call);
        else issueBuiltin(scope, call, { reader, ready });
      }
    },
    async settle(how) {
      taking = false;
      timers.drop();
      await tools.settle(how);
    },
  };
}

const maxRefused = 100;
const undefinedResult: GuestCompletion["result"] = { kind: "value", value: encodeValue(undefined) };

function createTimers({ seams }: RunScope, ready: (answered: Answered) => void) {
  const open = new Map<number, { cancel(): void }>();
  return {
    start({ seq, delayMs }: Extract<GuestCall, { kind: "timer" }>): void {
      const timer = seams.clock.schedule(delayMs, () => {
        open.delete(seq);
        ready({ seq, call: { kind: "timer", delayMs }, result: undefinedResult });
      });
      open.set(seq, timer);
    },
    drop(): void {
      for (const timer of open.values()) timer.cancel();
      open.clear();
    },
  };
}

function issueBuiltin(scope: RunScope, call: Extract<GuestCall, { kind: "builtin" }>, { reader, ready }: Pick<CallDeskOptions, "reader" | "ready">): void {
  const { seq, name, args } = call;
  answerBuiltin(scope, call, reader).then(
    (result) => {
      // Kept as it was answered, error or value, for replay reads it back.
      const clear = { json: JSON.stringify(result), tagged: false };
      const answer: RecordedValue = { digest: digestOfWire(clear), summary: null, clear };
      ready({ seq, call: { kind: "builtin", name, argsDigest: digestOfWire(args) }, result, answer });
    },
    () => undefined, // It never rejects.
  );
}

/** What the guest is told of a call. */
function resultOf({ outcome, wire }: PerformedCall): GuestCompletion["result"] {
  if (outcome.kind === "ok") return { kind: "value", value: wire ?? encodeValue(outcome.value) };
  return { kind: "error", error: guestErrorOf(outcome.error) };
}
