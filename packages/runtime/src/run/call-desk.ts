import { encodeValue } from "@callgate/contract";
import type { GuestCall, GuestCompletion, RunSignal } from "@callgate/contract";
import type { PerformedCall } from "../broker/call.ts";
import { builtinAnswered } from "./answered.ts";
import type { Answered } from "./answered.ts";
import { answerBuiltin } from "./builtins.ts";
import type { BuiltinReader } from "./builtins.ts";
import { guestErrorOf } from "./guest-error.ts";
import { createLikeFailures } from "./like-failures.ts";
import type { LikeFailure } from "./like-failures.ts";
import type { ResumePoint } from "./resume-point.ts";
import type { RunScope } from "./run-scope.ts";
import type { TokenMeter } from "./token-meter.ts";
import { createToolQueue } from "./tool-queue.ts";
import type { ToolCall } from "./tool-call.ts";
import type { Settling, ToolQueue } from "./tool-queue.ts";
import { answerInRerun, stopsAt } from "./rerun-waits.ts";
import { readWait } from "./wait-arguments.ts";
import { createWaitingRoom } from "./waiting-room.ts";
import type { WaitingRoom } from "./waiting-room.ts";

type Issued<Kind extends GuestCall["kind"]> = Extract<GuestCall, { kind: Kind }>;

export interface CallDeskOptions {
  readonly reader: BuiltinReader;
  /** Where the record of an earlier stretch of the run ends. */
  readonly resumed: ResumePoint | undefined;
  /** Must not throw. */
  readonly ready: (answered: Answered) => void;
  /** The program made more calls than it may. */
  readonly tooManyCalls: () => void;
  /** The same has failed, or calls were denied, as often as that may be. */
  readonly tooManyFailures: (failure: LikeFailure) => void;
  /** A call was none of the plan that the run is pinned to. */
  readonly drifted: () => void;
  /** A call ended or was parked, or a wait is over. */
  readonly changed: () => void;
}

/** Answers what a guest asks for, live: tools through the broker, the rest here. */
export interface CallDesk {
  issue(calls: readonly GuestCall[]): void;
  /** Takes calls of a program that is executed again: nothing is done before `goLive`. */
  keep(calls: readonly GuestCall[]): void;
  /** The record ends here: what was issued and not answered goes on from where its own record ends. */
  goLive(): void;
  /** Gives up what is kept: nothing of it is performed. */
  forget(): void;
  /** Begins nothing any more; what is under way comes to its end. */
  hold(): void;
  /**
   * The guest is gone or has to go: no call is taken any more, timers are dropped. `drain` lets writes that were issued
   * come to their end (a floating write must not become one of unknown effect) and aborts reads, whose value nobody
   * waits for; `abort` aborts all and refuses what has not begun. Resolves when every call has ended or, after `abort`,
   * the grace is over. May be called again with `abort`.
   */
  settle(how: Settling): Promise<void>;
  readonly room: WaitingRoom;
  /** Calls under way that only this process can bring to their end. */
  readonly busy: number;
  readonly calls: readonly ToolCall[];
  readonly meter: TokenMeter;
}

const maxRefused = 100;
const undefinedResult: GuestCompletion["result"] = { kind: "value", value: encodeValue(undefined) };

interface Kept {
  readonly issued: GuestCall;
  /** Of a tool call that may run. */
  readonly call?: ToolCall;
}

interface DeskState {
  readonly scope: RunScope;
  readonly options: CallDeskOptions;
  /** Calls of a program that is executed again, until the record ends. */
  readonly kept: Map<number, Kept>;
  /** How many events of each name the program has had. */
  readonly taken: Map<string, number>;
  readonly room: WaitingRoom;
  readonly tools: ToolQueue;
  taking: boolean;
  /** Built-ins under way. */
  answering: number;
}

export function createCallDesk(scope: RunScope, options: CallDeskOptions): CallDesk {
  const { clock, journal } = scope.seams;
  const taken = new Map<string, number>();
  const room = createWaitingRoom({ clock, readSignals: () => journal.readSignals(scope.principal.tenant, scope.runId, { clear: true }), taken, looked: () => options.changed() });
  scope.signals.heard = () => room.look();
  const failures = createLikeFailures(scope.limits.likeFailures, options.resumed?.calls.values());
  const tools = createToolQueue(scope, {
    ended({ seq, tool }, performed) {
      const { argsDigest, outcome, recordedThen } = performed;
      const last = failures.note({ tool, outcome: outcome.kind, error: outcome.kind === "ok" ? undefined : outcome.error });
      if (last !== undefined) options.tooManyFailures(last);
      options.ready({ seq, call: { kind: "tool", tool, argsDigest }, result: resultOf(performed), ...(recordedThen === undefined ? {} : { atMs: recordedThen.atMs }) });
      // A workflow that the plan has stopped within: what called it does not go on either.
      if (outcome.kind !== "ok" && outcome.error.code === "PLAN_DRIFT") scope.plan?.deviate(outcome.error.message);
      if (scope.plan?.drift !== undefined) options.drifted();
      options.changed();
    },
    parked(call, wait) {
      room.add({ wait, isTimer: false, over: (said) => { tools.wake(call, said); options.changed(); } });
      options.changed();
    },
  });
  const state: DeskState = { scope, options, kept: new Map(), taken, room, tools, taking: true, answering: 0 };
  return {
    room,
    calls: tools.calls,
    meter: tools.meter,
    get busy() {
      return tools.busy + state.answering;
    },
    issue(calls) {
      for (const issued of calls) scope.rerun?.issued(issued);
      for (const issued of calls) start(state, issued.kind === "tool" ? { issued, ...noteTool(state, issued) } : { issued }, clock.now());
    },
    keep(calls) {
      for (const issued of calls) keep(state, issued);
    },
    goLive: () => goLive(state),
    forget: () => state.kept.clear(),
    hold: () => tools.hold(),
    settle: (how) => settle(state, how),
  };
}

/** Enters a tool call. Without `call` it is one too many, or comes too late, and never runs. */
function noteTool({ scope, options, tools, taking }: DeskState, issued: Issued<"tool">): { readonly call?: ToolCall } {
  const { resumed, tooManyCalls } = options;
  const isOver = tools.calls.length >= scope.limits.calls;
  if (taking && !isOver) return { call: tools.note(issued, resumed?.calls.get(issued.seq)) };
  // A guest that is being ended may issue thousands more; these are enough to tell.
  if (tools.calls.length < scope.limits.calls + maxRefused) tools.refuse(tools.note(issued, undefined));
  if (taking) tooManyCalls();
  return {};
}

function keep(state: DeskState, issued: GuestCall): void {
  const { kept, taken, options, scope } = state;
  scope.rerun?.issued(issued);
  if (issued.kind === "tool") {
    const { call } = noteTool(state, issued);
    if (call !== undefined) kept.set(issued.seq, { issued, call });
    return;
  }
  kept.set(issued.seq, { issued });
  const name = options.resumed === undefined ? undefined : eventHad(issued, options.resumed);
  if (name !== undefined) taken.set(name, (taken.get(name) ?? 0) + 1);
}

function start(state: DeskState, { issued, call }: Kept, issuedMs: number): void {
  if (issued.kind === "tool") {
    if (call?.state === "ended") answerAgain(state, call);
    else if (call !== undefined && stopsAt(state.scope, issued)) state.tools.refuse(call);
    else if (call !== undefined) state.tools.start(call, issued.args);
  } else if (!state.taking || stopsAt(state.scope, issued) || answerInRerun(state.scope, issued, state.options)) return;
  else if (issued.kind === "timer") startTimer(state, issued, issuedMs + issued.delayMs);
  else startBuiltin(state, issued, issuedMs);
}

/** Its end is on record; that what led to it was handed to the program is not, for the journal could not be written. */
function answerAgain({ options: { resumed, ready, changed } }: DeskState, { seq }: ToolCall): void {
  const known = resumed?.undelivered.find((completion) => completion.seq === seq);
  if (known === undefined) return;
  ready(known);
  changed();
}

function startTimer({ room, options }: DeskState, { seq, delayMs }: Issued<"timer">, untilMs: number): void {
  const over = (): void => {
    options.ready({ seq, call: { kind: "timer", delayMs }, result: undefinedResult });
    options.changed();
  };
  room.add({ wait: { kind: "timer", seq, untilMs }, isTimer: true, over });
}

function startBuiltin(state: DeskState, call: Issued<"builtin">, issuedMs: number): void {
  const { scope, options } = state;
  if (call.name === "sleep" || call.name === "wait_for") return startWait(state, call, issuedMs);
  state.answering += 1;
  answerBuiltin(scope, call, options.reader).then(
    (result) => {
      state.answering -= 1;
      options.ready(builtinAnswered(call, result));
      options.changed();
    },
    () => undefined, // It never rejects.
  );
}

function startWait({ room, options }: DeskState, call: Issued<"builtin">, issuedMs: number): void {
  const read = readWait(call, issuedMs);
  if (read.kind === "error") return options.ready(builtinAnswered(call, read));
  const over = (said: RunSignal | undefined): void => {
    options.ready(builtinAnswered(call, said?.kind === "event" ? { kind: "value", value: said.payload.clear ?? encodeValue(undefined) } : read.whenOver));
    options.changed();
  };
  room.add({ wait: read.wait, isTimer: false, over });
}

function goLive(state: DeskState): void {
  const { kept, options, taking, scope } = state;
  const { resumed, ready } = options;
  const answered = resumed?.answered ?? new Set<number>();
  for (const completion of resumed?.undelivered ?? []) if (kept.delete(completion.seq) && taking) ready(completion);
  for (const one of kept.values()) {
    const { issued, call } = one;
    if (answered.has(issued.seq) || call?.state === "refused" || call?.state === "ended") continue;
    start(state, one, (issued.kind === "tool" ? undefined : issued.atMs) ?? resumed?.lastMs ?? scope.seams.clock.now());
  }
  kept.clear();
}

async function settle(state: DeskState, how: Settling): Promise<void> {
  const { room, tools } = state;
  state.taking = false;
  for (const { seq, kind } of room.waits) if (kind === "timer" || kind === "event" || how === "abort") room.remove(seq);
  // Of a program that ended while it was executed again, the rest is settled like that of any other.
  tools.hold();
  goLive(state);
  await tools.settle(how);
}

/** The name of the event that a recorded `waitFor` was answered with. */
function eventHad(issued: GuestCall, { recorded }: ResumePoint): string | undefined {
  if (issued.kind !== "builtin" || issued.name !== "wait_for") return undefined;
  const had = recorded.completions.some(({ seq, result }) => seq === issued.seq && result.kind === "value");
  const read = had ? readWait(issued, 0) : undefined;
  return read?.kind === "wait" && read.wait.kind === "event" ? read.wait.name : undefined;
}

/** What the guest is told of a call. */
function resultOf({ outcome, wire }: PerformedCall): GuestCompletion["result"] {
  if (outcome.kind === "ok") return { kind: "value", value: wire ?? encodeValue(outcome.value) };
  return { kind: "error", error: guestErrorOf(outcome.error) };
}
