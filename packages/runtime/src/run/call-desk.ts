import type { Artifact, CallError, CallOutcome, CallSummary, DeliveredCall, Effect, EffectStatus, GuestCall, GuestCompletion, OutcomeKind, RecordedValue } from "@callgate/contract";
import { encodeValue } from "@callgate/contract";
import type { PerformedCall } from "../broker/call.ts";
import { digestOf, digestOfWire } from "../lib/digest.ts";
import { answerBuiltin } from "./builtins.ts";
import type { BuiltinReader } from "./builtins.ts";
import { guestErrorOf } from "./guest-error.ts";
import { createOccurrences } from "./occurrences.ts";
import type { RunScope } from "./run-scope.ts";
import { createTokenMeter } from "./token-meter.ts";
import type { TokenMeter } from "./token-meter.ts";

/** A completion that is ready to be delivered, and what its record says of the call. */
export interface Answered {
  readonly seq: number;
  readonly call: DeliveredCall;
  readonly result: GuestCompletion["result"];
  /** Absent for tools: theirs is the broker's `call-ended`. */
  readonly answer?: RecordedValue;
}

/** A tool call of a run and how it stands. */
export interface DeskCall {
  readonly seq: number;
  readonly callId: string;
  readonly tool: string;
  readonly effect: Effect;
  state: "queued" | "open" | "ended" | "refused";
  /** Once it has ended. Values are not kept: a run of a thousand large results would hold them all. */
  end?: CallEnd;
}

interface CallEnd {
  readonly outcome: OutcomeKind;
  readonly effectStatus: EffectStatus;
  readonly effect: Effect;
  readonly durationMs: number;
  readonly error?: CallError;
  readonly artifacts: readonly Artifact[];
}

type ToolCall = Extract<GuestCall, { kind: "tool" }>;

export interface CallDeskOptions {
  readonly reader: BuiltinReader;
  /** Must not throw. */
  ready(answered: Answered): void;
  /** The program made more calls than it may. */
  tooManyCalls(): void;
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
  settle(how: "drain" | "abort"): Promise<void>;
  readonly calls: readonly DeskCall[];
  /** Arguments and results of the calls. */
  readonly meter: TokenMeter;
}

export function createCallDesk(scope: RunScope, options: CallDeskOptions): CallDesk {
  const { seams, limits } = scope;
  const calls: DeskCall[] = [];
  const queue: { readonly call: DeskCall; args: ToolCall["args"] | undefined }[] = [];
  const timers = new Map<number, { cancel(): void }>();
  const occurrences = createOccurrences();
  const reads = new AbortController();
  const writes = new AbortController();
  const meter = createTokenMeter();
  const idle: (() => void)[] = [];
  let head = 0;
  let open = 0;
  let taking = true;

  function next(): void {
    while (open < limits.concurrentCalls && head < queue.length) {
      const waiting = queue[head++];
      const args = waiting?.args;
      if (waiting?.call.state !== "queued" || args === undefined) continue;
      waiting.args = undefined;
      perform(waiting.call, args);
    }
    if (open === 0 && head >= queue.length) for (const resolve of idle.splice(0)) resolve();
  }

  function perform(call: DeskCall, args: ToolCall["args"]): void {
    call.state = "open";
    open += 1;
    const { view, principal, runId, lane, taskId } = scope;
    const { signal } = call.effect === "read" ? reads : writes;
    const occurrence = call.effect === "read" ? 0 : occurrences.next(call.tool, args);
    const request = { catalog: view.catalog, tool: call.tool, args, principal, runId, callId: call.callId, seq: call.seq, occurrence, lane, taskId, signal, limits };
    seams.broker.perform(request).then(
      (performed) => end(call, args, performed),
      (fault: unknown) => end(call, args, faulted(call, fault)),
    );
  }

  function end(call: DeskCall, args: ToolCall["args"], performed: PerformedCall): void {
    const { outcome, effect, durationMs } = performed;
    const ok = outcome.kind === "ok";
    call.state = "ended";
    call.end = { outcome: outcome.kind, effectStatus: outcome.effectStatus, effect, durationMs, artifacts: ok ? outcome.artifacts : [], ...(ok ? {} : { error: outcome.error }) };
    meter.add(args.json);
    meter.add(ok ? (performed.wire?.json ?? "") : outcome.error.message);
    open -= 1;
    for (const notice of performed.notices) scope.notices.add(notice);
    options.ready({ seq: call.seq, call: { kind: "tool", tool: call.tool, argsDigest: performed.argsDigest }, result: resultOf(performed) });
    next();
  }

  function refuse(call: DeskCall): void {
    call.state = "refused";
    scope.log.add({ kind: "call-refused", atMs: seams.clock.now(), seq: call.seq, tool: call.tool });
  }

  function issueTool(issued: ToolCall): void {
    const { seq, tool, args } = issued;
    const call: DeskCall = { seq, callId: `${scope.runId}.${seq}`, tool, effect: scope.view.catalog.resolve(tool)?.tool.effect ?? "write", state: "queued" };
    calls.push(call);
    if (!taking || calls.length > limits.calls) {
      refuse(call);
      if (taking) options.tooManyCalls();
      return;
    }
    queue.push({ call, args });
    next();
  }

  return {
    calls,
    meter,
    issue(issued) {
      for (const call of issued) {
        if (call.kind === "tool") issueTool(call);
        else if (!taking) continue;
        else if (call.kind === "timer") issueTimer(call);
        else issueBuiltin(call);
      }
    },
    async settle(how) {
      taking = false;
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
      for (const { call } of queue.slice(head)) if (call.state === "queued" && (how === "abort" || call.effect === "read")) refuse(call);
      if (open === 0 && queue.slice(head).every(({ call }) => call.state !== "queued")) return;
      reads.abort(new DOMException("The run has ended", "AbortError"));
      if (how === "abort") writes.abort(new DOMException("The run was ended", "AbortError"));
      await new Promise<void>((resolve) => {
        idle.push(resolve);
        if (how === "abort") seams.clock.schedule(seams.settleGraceMs, resolve);
        next();
      });
    },
  };

  function issueTimer({ seq, delayMs }: Extract<GuestCall, { kind: "timer" }>): void {
    const timer = seams.clock.schedule(delayMs, () => {
      timers.delete(seq);
      options.ready({ seq, call: { kind: "timer", delayMs }, result: undefinedResult });
    });
    timers.set(seq, timer);
  }

  function issueBuiltin(call: Extract<GuestCall, { kind: "builtin" }>): void {
    const { seq, name, args } = call;
    answerBuiltin(scope, call, options.reader).then(
      (result) => {
        // Kept as it was answered, error or value, for replay reads it back.
        const clear = { json: JSON.stringify(result), tagged: false };
        const answer: RecordedValue = { digest: digestOfWire(clear), summary: null, clear };
        options.ready({ seq, call: { kind: "builtin", name, argsDigest: digestOfWire(args) }, result, answer });
      },
      () => undefined,
    );
  }
}

const undefinedResult: GuestCompletion["result"] = { kind: "value", value: encodeValue(undefined) };

/** What the guest is told of a call. */
function resultOf({ outcome, wire }: PerformedCall): GuestCompletion["result"] {
  if (outcome.kind === "ok") return { kind: "value", value: wire ?? encodeValue(outcome.value) };
  return { kind: "error", error: guestErrorOf(outcome.error) };
}

/** The broker was closed or broke its own promise. Nothing is known of a write that had begun. */
function faulted(call: DeskCall, fault: unknown): PerformedCall {
  const error: CallError = { code: "INTERNAL", message: `${call.tool} could not be carried through: ${fault instanceof Error ? fault.message : "a fault of the gate"}`, tool: call.tool, retryable: false };
  const outcome: CallOutcome = { kind: "failed", effectStatus: call.effect === "read" ? "none" : "unknown", error };
  return { outcome, durationMs: 0, effect: call.effect, argsDigest: digestOf("unreadable"), notices: [] };
}

/** A call as the result of the run tells it. */
export function summaryOf({ callId, tool, effect, state, end }: DeskCall): CallSummary {
  if (end !== undefined) {
    const { artifacts: _artifacts, ...told } = end;
    return { id: callId, tool, ...told };
  }
  const begun = state === "open";
  const message = begun ? "The run ended while the call was under way, and the tool did not stop" : "The run had ended before the call could begin; it did not happen";
  return { id: callId, tool, effect, outcome: "cancelled", effectStatus: begun && effect !== "read" ? "unknown" : "none", durationMs: 0, error: { code: "CANCELLED", message, tool, retryable: false } };
}
