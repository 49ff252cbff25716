import type { GuestCall, RunSignal } from "@callgate/contract";
import type { PerformedCall } from "../broker/call.ts";
import { isParked } from "../broker/is-ended.ts";
import type { ParkedCall } from "../broker/call-past.ts";
import { withoutValues } from "../broker/sensitive-values.ts";
import { answerFromRecord } from "./answer-from-record.ts";
import { createCallLedger } from "./call-ledger.ts";
import type { CallLedger } from "./call-ledger.ts";
import { callOfRun } from "./call-of-run.ts";
import type { RecordedCall } from "./recorded-calls.ts";
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

interface Waiting {
  readonly call: ToolCall;
  /** Dropped once the call has begun: a run of a thousand large calls would hold them all. */
  args: IssuedTool["args"] | undefined;
}

interface QueueState {
  readonly scope: RunScope;
  readonly told: ToolQueueOptions;
  readonly ledger: CallLedger;
  readonly perform: Performer;
  readonly meter: TokenMeter;
  readonly waiting: Waiting[];
  readonly parked: Map<ToolCall, IssuedTool["args"]>;
  /** Who waits for the queue to be quiet. */
  readonly idle: (() => void)[];
  /** Where the queue begins in `waiting`. */
  head: number;
  open: number;
  held: boolean;
}

export function createToolQueue(scope: RunScope, told: ToolQueueOptions): ToolQueue {
  const ledger = createCallLedger(scope);
  const state: QueueState = { scope, told, ledger, perform: createPerformer(scope), meter: createTokenMeter(), waiting: [], parked: new Map(), idle: [], head: 0, open: 0, held: false };
  return {
    calls: ledger.calls,
    meter: state.meter,
    note: (issued, record) => note(state, issued, record),
    start: (call, args) => start(state, call, args),
    refuse: (call) => ledger.refuse(call),
    wake: (call, said) => wake(state, call, said),
    hold() {
      state.held = true;
    },
    get busy() {
      return state.open + (state.held ? 0 : state.waiting.length - state.head);
    },
    settle: (how) => settle(state, how),
  };
}

function note({ meter, ledger }: QueueState, issued: IssuedTool, record: RecordedCall | undefined): ToolCall {
  if (record?.ended !== undefined) {
    meter.add(issued.args.json);
    meter.add(record.ended.result?.clear?.json ?? record.ended.error?.message ?? "");
  }
  return ledger.note(issued, record);
}

function start(state: QueueState, call: ToolCall, args: IssuedTool["args"]): void {
  call.state = "queued";
  state.waiting.push({ call, args });
  next(state);
}

/** Begins what there is room for. */
function next(state: QueueState): void {
  const { waiting, scope, parked, idle } = state;
  while (!state.held && state.open < scope.limits.concurrentCalls && state.head < waiting.length) {
    const first = waiting[state.head++];
    if (first?.args === undefined || first.call.state !== "queued") continue;
    begin(state, first.call, first.args);
    first.args = undefined;
  }
  if (state.open === 0 && parked.size === 0 && state.head >= waiting.length) for (const resolve of idle.splice(0)) resolve();
}

function begin(state: QueueState, call: ToolCall, args: IssuedTool["args"]): void {
  call.state = "open";
  state.open += 1;
  state.perform.call(call, args).then(
    (answer) => (isParked(answer) ? park(state, { call, args }, answer) : end(state, { call, args }, asRecorded(answer))),
    (fault: unknown) => end(state, { call, args }, faulted(call, fault)),
  );
}

interface Begun {
  readonly call: ToolCall;
  readonly args: IssuedTool["args"];
}

function park(state: QueueState, { call, args }: Begun, { wait, past }: ParkedCall): void {
  call.state = "parked";
  call.past = past;
  state.open -= 1;
  state.parked.set(call, args);
  state.told.parked(call, wait);
  next(state);
}

function end(state: QueueState, { call, args }: Begun, performed: PerformedCall): void {
  const { scope, meter, told } = state;
  call.state = "ended";
  call.end = endOf(performed);
  for (const value of performed.sensitiveValues) scope.sensitive.add(value);
  meter.add(args.json);
  meter.add(performed.wire?.json ?? call.end.error?.message ?? "");
  if (performed.recorded !== undefined) scope.log.follow(performed.recorded.then((notices) => { for (const notice of notices) scope.notices.add(notice); }));
  state.open -= 1;
  told.ended(call, performed);
  next(state);
}

/** A program that goes on later is given errors from its record, without what its tools declare sensitive: it never gets another one. */
function asRecorded(performed: PerformedCall): PerformedCall {
  const { outcome, sensitiveValues } = performed;
  return outcome.kind === "ok" ? performed : { ...performed, outcome: { ...outcome, error: withoutValues(outcome.error, sensitiveValues) } };
}

function wake(state: QueueState, call: ToolCall, said: RunSignal | undefined): void {
  const args = state.parked.get(call);
  if (args === undefined) return;
  state.parked.delete(call);
  if (call.past !== undefined && said !== undefined && said.kind !== "event" && said.kind !== "answer-refused") call.past = { ...call.past, said };
  start(state, call, args);
}

async function settle(state: QueueState, how: Settling): Promise<void> {
  const { waiting, ledger, parked, idle, scope } = state;
  state.held = false;
  // No call was ever begun, and none is taken any more.
  if (waiting.length === 0) return;
  // What may have begun before is settled by the broker, which sees that the run has ended.
  for (const { call } of waiting.slice(state.head)) {
    if (call.state === "queued" && call.past?.issued !== true && (how === "abort" || call.effect === "read")) ledger.refuse(call);
  }
  if (isQuiet(state)) return;
  state.perform.abort(how);
  for (const call of Array.from(parked.keys())) if (how === "abort" || call.effect === "read") wake(state, call, undefined);
  if (isQuiet(state)) return;
  const quiet = new Promise<void>((resolve) => idle.push(resolve));
  next(state);
  if (how === "drain" || state.open === 0) return await quiet;
  const grace = Promise.withResolvers<void>();
  const timer = scope.seams.clock.schedule(scope.seams.settleGraceMs, grace.resolve);
  await Promise.race([quiet, grace.promise]);
  timer.cancel();
  for (const resolve of idle.splice(0)) resolve();
}

function isQuiet({ open, parked, waiting, head }: QueueState): boolean {
  return open === 0 && parked.size === 0 && waiting.slice(head).every(({ call }) => call.state !== "queued");
}

interface Performer {
  call(call: ToolCall, args: IssuedTool["args"]): Promise<PerformedCall | ParkedCall>;
  abort(how: Settling): void;
}

/** Reads and writes are aborted apart: nobody waits for a floating read, but a floating write comes to its end. */
function createPerformer(scope: RunScope): Performer {
  const { seams, log } = scope;
  const reads = new AbortController();
  const writes = new AbortController();
  return {
    call(call, args) {
      const { callId, seq, tool, effect, occurrence, past } = call;
      if (scope.rerun?.answerTo(seq) !== undefined) return answerFromRecord(scope, call, reads.signal);
      const over = scope.rerun?.begun() ?? (() => undefined);
      const { signal } = effect === "read" ? reads : writes;
      return seams.broker.perform({ ...callOfRun(scope), gather: log.gather, tool, args, callId, seq, occurrence, signal, ...(past === undefined ? {} : { past }) }).finally(over);
    },
    abort(how) {
      reads.abort(new DOMException("The run has ended", "AbortError"));
      if (how === "abort") writes.abort(new DOMException("The run was ended", "AbortError"));
    },
  };
}
