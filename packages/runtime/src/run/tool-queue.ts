import type { GuestCall } from "@callgate/contract";
import type { PerformedCall } from "../broker/call.ts";
import { createOccurrences } from "./occurrences.ts";
import type { RunScope } from "./run-scope.ts";
import { createTokenMeter } from "./token-meter.ts";
import type { TokenMeter } from "./token-meter.ts";
import { endOf, faulted } from "./tool-call.ts";
import type { ToolCall } from "./tool-call.ts";

type IssuedTool = Extract<GuestCall, { kind: "tool" }>;

/** How calls are brought to their end: see `CallDesk.settle`. */
export type Settling = "drain" | "abort";

/** Brings the tool calls of one run to the broker, at most `concurrentCalls` at once, first come first served. */
export interface ToolQueue {
  issue(call: IssuedTool): void;
  /** Notes a call that never runs. */
  refuse(call: IssuedTool): void;
  settle(how: Settling): Promise<void>;
  readonly calls: readonly ToolCall[];
  /** Arguments and results. */
  readonly meter: TokenMeter;
}

export function createToolQueue(scope: RunScope, ended: (call: ToolCall, performed: PerformedCall) => void): ToolQueue {
  const ledger = createLedger(scope);
  const waiting: { readonly call: ToolCall; args: IssuedTool["args"] | undefined }[] = [];
  const meter = createTokenMeter();
  const perform = createPerformer(scope);
  const idle: (() => void)[] = [];
  let [head, open] = [0, 0];

  function next(): void {
    while (open < scope.limits.concurrentCalls && head < waiting.length) {
      const first = waiting[head++];
      if (first?.args === undefined || first.call.state !== "queued") continue;
      start(first.call, first.args);
      first.args = undefined;
    }
    if (open === 0 && head >= waiting.length) for (const resolve of idle.splice(0)) resolve();
  }

  function start(call: ToolCall, args: IssuedTool["args"]): void {
    call.state = "open";
    open += 1;
    perform.call(call, args).then(
      (performed) => end(call, args, performed),
      (fault: unknown) => end(call, args, faulted(call, fault)),
    );
  }

  function end(call: ToolCall, args: IssuedTool["args"], performed: PerformedCall): void {
    call.state = "ended";
    call.end = endOf(performed);
    meter.add(args.json);
    meter.add(performed.wire?.json ?? call.end.error?.message ?? "");
    scope.log.follow(performed.recorded.then((notices) => { for (const notice of notices) scope.notices.add(notice); }));
    open -= 1;
    ended(call, performed);
    next();
  }

  return {
    calls: ledger.calls,
    meter,
    issue(issued) {
      waiting.push({ call: ledger.note(issued), args: issued.args });
      next();
    },
    refuse: (issued) => ledger.refuse(ledger.note(issued)),
    async settle(how) {
      for (const { call } of waiting.slice(head)) {
        if (call.state === "queued" && (how === "abort" || call.effect === "read")) ledger.refuse(call);
      }
      if (open === 0 && waiting.slice(head).every(({ call }) => call.state !== "queued")) return;
      perform.abort(how);
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
  return {
    calls,
    note({ seq, tool }: IssuedTool): ToolCall {
      const call: ToolCall = { seq, callId: `${runId}.${seq}`, tool, effect: view.catalog.resolve(tool)?.tool.effect ?? "write", state: "queued" };
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
  const occurrences = createOccurrences();
  const reads = new AbortController();
  const writes = new AbortController();
  return {
    call({ callId, seq, tool, effect }: ToolCall, args: IssuedTool["args"]): Promise<PerformedCall> {
      const { signal } = effect === "read" ? reads : writes;
      const occurrence = effect === "read" ? 0 : occurrences.next(tool, args);
      return seams.broker.perform({ catalog: view.catalog, tool, args, principal, runId, lease, callId, seq, occurrence, lane, taskId, signal, limits });
    },
    abort(how: Settling): void {
      reads.abort(new DOMException("The run has ended", "AbortError"));
      if (how === "abort") writes.abort(new DOMException("The run was ended", "AbortError"));
    },
  };
}
