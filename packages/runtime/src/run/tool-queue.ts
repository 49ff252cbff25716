import type { GuestCall, RunSignal } from "@callgate/contract";
import type { PerformedCall } from "../broker/call.ts";
import { isParked } from "../broker/is-ended.ts";
import type { ParkedCall } from "../broker/call-past.ts";
import { createOccurrences } from "./occurrences.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import type { RunScope } from "./run-scope.ts";
import { createTokenMeter } from "./token-meter.ts";
import type { TokenMeter } from "./token-meter.ts";
import { endOf, faulted, recordedEndOf } from "./tool-call.ts";
import type { ToolCall } from "./tool-call.ts";

type IssuedTool = Extract<GuestCall, { kind: "tool" }>;

/** How calls are brought to their end: see `CallDesk.settle`. */
export type Settling = "drain" | "abort";

/** Brings the tool calls of one run to the broker, at most `concurrentCalls` at once, first come first served. */
export interface ToolQueue {
  /** Enters a call; `record` is what an earlier stretch of the run left of it. Nothing begins. */
  note(call: IssuedTool, record: RecordedCall | undefined): ToolCall;
  start(call: ToolCall, args: IssuedTool["args"]): void;
  /** Writes down that a call never runs. */
  refuse(call: ToolCall): void;
  /** Goes on with a parked call: with what was said to it, or because its time has come. */
  wake(call: ToolCall, said: RunSignal | undefined): void;
  /** Begins nothing any more; what is under way comes to its end. */
  hold(): void;
  settle(how: Settling): Promise<void>;
  /** Calls that are under way or in the queue. Parked ones are not. */
  readonly busy: number;
  readonly calls: readonly ToolCall[];
  /** Arguments and results. */
  readonly meter: TokenMeter;
}

export interface ToolQueueOptions {
  /** Neither may throw. */
  readonly ended: (call: ToolCall, performed: PerformedCall) => void;
  readonly parked: (call: ToolCall, wait: ParkedCall["wait"]) => void;
}

// oxlint-disable-next-line max-lines-per-function -- one state, and the functions that change it
export function createToolQueue(scope: RunScope, told: ToolQueueOptions): ToolQueue {
  const ledger = createLedger(scope);
  const waiting: { readonly call: ToolCall; args: IssuedTool["args"] | undefined }[] = [];
  const parked = new Map<ToolCall, IssuedTool["args"]>();
  const meter = createTokenMeter();
  const perform = createPerformer(scope);
  const idle: (() => void)[] = [];
  let [head, open, held] = [0, 0, false];

  function next(): void {
    while (!held && open < scope.limits.concurrentCalls && head < waiting.length) {
      const first = waiting[head++];
      if (first?.args === undefined || first.call.state !== "queued") continue;
      begin(first.call, first.args);
      first.args = undefined;
    }
    if (open === 0 && parked.size === 0 && head >= waiting.length) for (const resolve of idle.splice(0)) resolve();
  }

  function begin(call: ToolCall, args: IssuedTool["args"]): void {
    call.state = "open";
    open += 1;
    perform.call(call, args).then(
      (answer) => (isParked(answer) ? park(call, args, answer) : end(call, args, answer)),
      (fault: unknown) => end(call, args, faulted(call, fault)),
    );
  }

  function park(call: ToolCall, args: IssuedTool["args"], { wait, past }: ParkedCall): void {
    call.state = "parked";
    call.past = past;
    open -= 1;
    parked.set(call, args);
    told.parked(call, wait);
    next();
  }

  function end(call: ToolCall, args: IssuedTool["args"], performed: PerformedCall): void {
    call.state = "ended";
    call.end = endOf(performed);
    for (const value of performed.sensitiveValues) scope.sensitive.add(value);
    meter.add(args.json);
    meter.add(performed.wire?.json ?? call.end.error?.message ?? "");
    scope.log.follow(performed.recorded.then((notices) => { for (const notice of notices) scope.notices.add(notice); }));
    open -= 1;
    told.ended(call, performed);
    next();
  }

  function start(call: ToolCall, args: IssuedTool["args"]): void {
    call.state = "queued";
    waiting.push({ call, args });
    next();
  }

  function wake(call: ToolCall, said: RunSignal | undefined): void {
    const args = parked.get(call);
    if (args === undefined) return;
    parked.delete(call);
    if (call.past !== undefined && said !== undefined && said.kind !== "event") call.past = { ...call.past, said };
    start(call, args);
  }

  const isQuiet = (): boolean => open === 0 && parked.size === 0 && waiting.slice(head).every(({ call }) => call.state !== "queued");

  return {
    calls: ledger.calls,
    meter,
    note(issued, record) {
      if (record?.ended !== undefined) {
        meter.add(issued.args.json);
        meter.add(record.ended.result?.clear?.json ?? record.ended.error?.message ?? "");
      }
      return ledger.note(issued, record);
    },
    start,
    refuse: (call) => ledger.refuse(call),
    wake,
    hold() {
      held = true;
    },
    get busy() {
      return open + (held ? 0 : waiting.length - head);
    },
    async settle(how) {
      held = false;
      // What may have begun before is settled by the broker, which sees that the run has ended.
      for (const { call } of waiting.slice(head)) {
        if (call.state === "queued" && call.past?.issued !== true && (how === "abort" || call.effect === "read")) ledger.refuse(call);
      }
      perform.abort(how);
      for (const call of Array.from(parked.keys())) if (how === "abort" || call.effect === "read") wake(call, undefined);
      if (isQuiet()) return;
      const quiet = new Promise<void>((resolve) => idle.push(resolve));
      next();
      if (how === "drain" || open === 0) return await quiet;
      const grace = Promise.withResolvers<void>();
      const timer = scope.seams.clock.schedule(scope.seams.settleGraceMs, grace.resolve);
      await Promise.race([quiet, grace.promise]);
      timer.cancel();
      for (const resolve of idle.splice(0)) resolve();
    },
  };
}

/** All tool calls the program made, run or not. */
function createLedger({ runId, view, log, seams }: RunScope) {
  const calls: ToolCall[] = [];
  const occurrences = createOccurrences();
  return {
    calls,
    note({ seq, tool, args }: IssuedTool, record: RecordedCall | undefined): ToolCall {
      const effect = record?.issued?.effect ?? view.catalog.resolve(tool)?.tool.effect ?? "write";
      const end = record === undefined ? undefined : recordedEndOf(record, effect);
      const call: ToolCall = {
        seq,
        callId: `${runId}.${seq}`,
        tool,
        effect,
        occurrence: effect === "read" ? 0 : occurrences.next(tool, args),
        state: record?.refused === true ? "refused" : end === undefined ? "queued" : "ended",
        ...(record === undefined ? {} : { past: record.past }),
        ...(end === undefined ? {} : { end }),
      };
      calls.push(call);
      return call;
    },
    refuse(call: ToolCall): void {
      call.state = "refused";
      log.add({ kind: "call-refused", atMs: seams.clock.now(), seq: call.seq, tool: call.tool });
    },
  };
}

/** Reads and writes are aborted apart: nobody waits for a floating read, but a floating write comes to its end. */
function createPerformer({ seams, view, principal, runId, lease, lane, taskId, limits }: RunScope) {
  const reads = new AbortController();
  const writes = new AbortController();
  return {
    call({ callId, seq, tool, effect, occurrence, past }: ToolCall, args: IssuedTool["args"]): Promise<PerformedCall | ParkedCall> {
      const { signal } = effect === "read" ? reads : writes;
      return seams.broker.perform({ catalog: view.catalog, tool, args, principal, runId, lease, callId, seq, occurrence, lane, taskId, signal, limits, ...(past === undefined ? {} : { past }) });
    },
    abort(how: Settling): void {
      reads.abort(new DOMException("The run has ended", "AbortError"));
      if (how === "abort") writes.abort(new DOMException("The run was ended", "AbortError"));
    },
  };
}
