import { decodeValue } from "@callgate/contract";
import type { GuestCompletion, GuestEnd, GuestJob, LimitName, RunLimits, RunWait, SandboxDriver, Suspension, WireValue } from "@callgate/contract";
import { createCallDesk } from "./call-desk.ts";
import type { CallDesk } from "./call-desk.ts";
import type { BuiltinReader } from "./builtins.ts";
import { driveGuest } from "./drive-guest.ts";
import type { DrivenGuest, GuestHearing } from "./drive-guest.ts";
import { createOutputSink } from "./guest-output.ts";
import type { OutputOptions, OutputSink } from "./guest-output.ts";
import type { LikeFailure } from "./like-failures.ts";
import { createPump } from "./pump.ts";
import type { Pump } from "./pump.ts";
import { createReplayScript } from "./replay-script.ts";
import type { Divergence, ReplayScript } from "./replay-script.ts";
import type { Rerun } from "./rerun.ts";
import type { ResumePoint } from "./resume-point.ts";
import type { RunScope } from "./run-scope.ts";
import { createSuspender } from "./suspender.ts";
import type { Suspender } from "./suspender.ts";
import type { TokenMeter } from "./token-meter.ts";
import type { ToolCall } from "./tool-call.ts";
import { wakeTimeOf } from "./waiting-room.ts";
import { rehearsalWaits } from "./waits-text.ts";
import { startWallClock } from "./wall-clock.ts";
import type { WallClock } from "./wall-clock.ts";

export interface ExecuteOptions {
  readonly driver: SandboxDriver;
  readonly job: GuestJob;
  /** The caller's, and the gate's own end. */
  readonly signal: AbortSignal;
  readonly reader: BuiltinReader;
  /** Where the record of earlier stretches ends, when the run goes on. */
  readonly resumed?: ResumePoint;
  /** How long the guest is kept when all it does is wait; Infinity: for good. */
  readonly suspendAfterMs: number;
  /** Hears what is printed, as it comes. */
  readonly onOutput?: OutputOptions["onOutput"];
  /** Aborts when the run is to be left at the next point at which another process can go on. A program that cannot be executed again has none. */
  readonly leave?: AbortSignal;
}

/** How the execution of a program came out. Nothing of it lives any more. */
export interface Executed {
  readonly end: GuestEnd;
  /** The decoded value, when it returned. */
  readonly value?: { readonly wire: WireValue; readonly value: unknown };
  /** It was given up until what it waits for has come. */
  readonly suspension?: Suspension;
  /** It did something else than its record says; nothing was performed. */
  readonly divergence?: Divergence;
  /** It made a call that the record has no answer for, and was to stop there. */
  readonly newCall?: Rerun["stoppedAt"];
  readonly output: OutputSink;
  readonly calls: readonly ToolCall[];
  readonly meter: TokenMeter;
}

/**
 * Runs a checked program until it has ended and every call of it as well (DESIGN P8), or until all it does is wait. A run
 * that goes on is executed again from its start: as far as its record goes it gets the recorded answers, in their order
 * and without anything being performed; from there on it goes on live like any other (DESIGN D7). What a guest can end in
 * is a value; this never rejects.
 */
export async function execute(scope: RunScope, options: ExecuteOptions): Promise<Executed> {
  const execution = begin(scope, options);
  const { state, desk, guest, pump, script, wall, output } = execution;
  const unobserve = observePauses(scope, wall);
  const cancel = (): void => stop(execution, { kind: "cancelled" });
  const unlisten = listen([options.signal, cancel], [scope.fence.signal, cancel], [options.driver.replayable ? options.leave : undefined, () => leave(execution)]);
  const ended = readEnd(await guest.ended, scope.limits.resultBytes);
  state.hasEnded = true;
  pump.stop();
  const missing = state.isLive || state.suspension !== undefined || state.aborted !== undefined ? undefined : missingCall(ended.end, script?.missing());
  if (missing !== undefined) desk.forget();
  state.isLive = true;
  // Aborting while the last writes drain is still possible: the signal and the wall clock are kept until here.
  if (state.suspension === undefined) await Promise.race([settleCalls(scope, desk, { end: ended.end, aborted: state.aborted }), state.left.promise]);
  unlisten();
  execution.suspender.stop();
  unobserve();
  wall.stop();
  const divergence = script?.divergence ?? missing;
  const newCall = scope.rerun?.stoppedAt;
  const common = { output, calls: desk.calls, meter: desk.meter, ...(newCall === undefined ? {} : { newCall }) };
  if (state.suspension !== undefined) return { end: { kind: "cancelled" }, suspension: state.suspension, ...common };
  return { ...(divergence === undefined ? ended : { end: ended.end, divergence }), ...common };
}

/** How far an execution has come. */
interface ExecutionState {
  /** The record of earlier stretches ends before here. */
  isLive: boolean;
  hasEnded: boolean;
  /** Completions the guest had had when it last blocked. */
  blockedAt: number;
  /** Once it was given up for now. */
  suspension: Suspension | undefined;
  /** Settles once calls are aborted; from when the gate ended the run. */
  aborted: Promise<void> | undefined;
  /** Resolves when it is given up. */
  readonly left: PromiseWithResolvers<void>;
}

interface Execution {
  readonly scope: RunScope;
  readonly state: ExecutionState;
  readonly desk: CallDesk;
  readonly output: OutputSink;
  readonly pump: Pump;
  /** What a run that goes on is given from its record. */
  readonly script: ReplayScript | undefined;
  readonly suspender: Suspender;
  readonly guest: DrivenGuest;
  readonly wall: WallClock;
}

/** Puts the parts together and starts the guest. What they bring about comes later, when all of them are there. */
function begin(scope: RunScope, options: ExecuteOptions): Execution {
  const { driver, job, resumed } = options;
  const { seams, limits, log } = scope;
  const state: ExecutionState = { isLive: resumed === undefined, hasEnded: false, blockedAt: -1, suspension: undefined, aborted: undefined, left: Promise.withResolvers<void>() };
  const desk = createCallDesk(scope, { reader: options.reader, resumed, ready: (answered) => pump.ready(answered), tooManyCalls: () => stop(execution, callsEnd(limits)), tooManyFailures: (failure) => stop(execution, failuresEnd(limits, failure)), drifted: () => drift(execution), changed: () => suspender.touch() });
  const output = createOutputSink(scope, { textTooLarge: () => stop(execution, textEnd(limits)), onOutput: options.onOutput, ...(resumed === undefined ? {} : { before: resumed.said }) });
  const deliver = (completions: readonly GuestCompletion[]): void => guest.deliver(completions);
  const pump = createPump({ clock: seams.clock, log, startMs: resumed?.lastMs ?? job.startMs, delivered: resumed?.recorded.completions.length ?? 0, deliver });
  const atEnd = (): void => {
    state.isLive = true;
    if (scope.plan?.drift !== undefined) return drift(execution);
    desk.goLive();
    scope.rerun?.blocked();
    suspender.touch();
  };
  const script = resumed === undefined ? undefined : createReplayScript({ recorded: resumed.recorded, deliver, stop: () => stop(execution, { kind: "cancelled" }), atEnd });
  const suspender = createSuspender({
    clock: seams.clock,
    suspendAfterMs: driver.replayable || scope.rehearsal !== undefined ? options.suspendAfterMs : Number.POSITIVE_INFINITY,
    // Questions that are kept for whoever gets the run's result are not answered before there is one.
    isHopeless: () => scope.approver !== undefined && desk.room.waits.every(({ kind }) => kind === "approval"),
    isResting: () => state.isLive && desk.busy === 0 && pump.isEmpty && (state.hasEnded || state.blockedAt >= pump.delivered) && desk.room.canBeLeft(seams.clock.now() + options.suspendAfterMs),
    resting: (isResting) => (isResting && desk.room.isPatient ? wall.pause("waiting") : wall.resume("waiting")),
    suspend: () => (scope.rehearsal === undefined ? suspend(execution, wakeTimeOf(desk.room.waits)) : stop(execution, waitsEnd(scope, desk.room.waits))),
  });
  // A driver may hand over calls before it returns: what they need is there by now.
  const guest = driveGuest(driver, job, hearing({ scope, state, desk, output, script, suspender }));
  const wall = startWallClock(seams.clock, limits.wallMs, () => stop(execution, wallEnd(limits)));
  if (scope.rerun !== undefined) scope.rerun.onStop = () => stop(execution, { kind: "cancelled" });
  const execution: Execution = { scope, state, desk, output, pump, script, suspender, guest, wall };
  return execution;
}

/** What the guest does, and where it goes. */
function hearing({ scope, state, desk, output, script, suspender }: Pick<Execution, "scope" | "state" | "desk" | "output" | "script" | "suspender">): GuestHearing {
  return {
    calls(calls) {
      if (!state.isLive) desk.keep(calls);
      // What was handed over last may not be on record, though what the program did upon it is: it has to do the same.
      script?.issued(calls);
      if (state.isLive && script?.divergence === undefined) desk.issue(calls);
      suspender.touch();
    },
    output: (said) => output.take(said),
    blocked(delivered) {
      state.blockedAt = delivered;
      if (!state.isLive) script?.blocked(delivered);
      else scope.rerun?.blocked();
      suspender.touch();
    },
  };
}

/** Ends the run, whatever it does. */
function stop({ state, suspender, pump, guest, script, desk }: Execution, end: GuestEnd): void {
  if (state.suspension !== undefined) return;
  suspender.stop();
  pump.stop();
  guest.stop(end);
  if (script?.divergence !== undefined) desk.forget();
  state.aborted ??= desk.settle("abort");
}

/** Ends the run at a call that its plan does not have: nothing more begins, and what is under way, which it has, comes to its end. */
function drift({ scope, state, suspender, pump, guest, desk }: Execution): void {
  if (state.suspension !== undefined || state.aborted !== undefined) return;
  suspender.stop();
  pump.stop();
  guest.stop({ kind: "cancelled" });
  desk.hold();
  const quiet = Promise.withResolvers<void>();
  const look = (): void => {
    if (desk.busy === 0) quiet.resolve();
    else scope.seams.clock.schedule(leaveLookMs, look);
  };
  state.aborted = quiet.promise.then(() => desk.settle("abort"));
  look();
}

/** Gives the run up for now: it goes on, here or elsewhere, when what it waits for has come. */
function suspend({ scope, state, suspender, pump, guest, desk }: Execution, wakeAtMs: number | undefined): void {
  if (state.aborted !== undefined || state.suspension !== undefined) return;
  state.suspension = { atMs: scope.seams.clock.now(), waits: desk.room.waits, ...(wakeAtMs === undefined ? {} : { wakeAtMs }) };
  suspender.stop();
  pump.stop();
  guest.stop({ kind: "cancelled" });
  desk.room.drop();
  state.left.resolve();
}

function limitEnd(limits: RunLimits, limit: LimitName, message: string): GuestEnd {
  return { kind: "limit", limit, limitValue: limits[limit], message };
}

function callsEnd(limits: RunLimits): GuestEnd {
  return limitEnd(limits, "calls", `The program made more than ${limits.calls} calls (limit calls). Do more with one call, or split the work over several runs.`);
}

function failuresEnd(limits: RunLimits, failure: LikeFailure): GuestEnd {
  const what = failure.kind === "denied" ? `${limits.likeFailures} calls of the program were denied` : `${failure.tool} failed ${limits.likeFailures} times in a row with ${failure.code}`;
  return limitEnd(limits, "likeFailures", `${what} (limit likeFailures). More of the same changes nothing: read the error, and do something else.`);
}

function textEnd(limits: RunLimits): GuestEnd {
  return limitEnd(limits, "resultBytes", `text() gave more than ${limits.resultBytes} bytes (limit resultBytes). Return less, or write it to a file with a tool.`);
}

function wallEnd(limits: RunLimits): GuestEnd {
  return limitEnd(limits, "wallMs", `The run took longer than ${limits.wallMs} ms (limit wallMs), not counting the time people took to answer.`);
}

/** Nobody goes on with a rehearsal: one that can only wait ends. */
function waitsEnd({ runId }: RunScope, waits: readonly RunWait[]): GuestEnd {
  return { kind: "threw", error: { name: "Error", ...rehearsalWaits(runId, waits) } };
}

type Listening = readonly [signal: AbortSignal | undefined, heard: () => void];

function listen(...all: readonly Listening[]): () => void {
  for (const [signal, heard] of all) {
    signal?.addEventListener("abort", heard, { once: true });
    if (signal?.aborted === true) heard();
  }
  return () => {
    for (const [signal, heard] of all) signal?.removeEventListener("abort", heard);
  };
}

const leaveLookMs = 20;

/** Lets what is under way come to its end and gives the run up: it can go on at once, elsewhere. */
function leave(execution: Execution): void {
  const { pump, desk, state, scope } = execution;
  const { clock } = scope.seams;
  pump.stop();
  desk.hold();
  const look = (): void => {
    if (!state.isLive || desk.busy === 0) suspend(execution, clock.now());
    else clock.schedule(leaveLookMs, look);
  };
  look();
}

/** A guest that was ended by a limit is compared by that, not by what it did not come to. */
export function missingCall(end: GuestEnd, missing: Divergence | undefined): Divergence | undefined {
  return end.kind === "returned" || end.kind === "threw" || end.kind === "stalled" ? missing : undefined;
}

/** A value that no encoder writes, or that is over the limit, changes the end. */
export function readEnd(end: GuestEnd, resultBytes: number): Pick<Executed, "end" | "value"> {
  if (end.kind !== "returned") return { end };
  const bytes = Buffer.byteLength(end.value.json);
  if (bytes > resultBytes) {
    return { end: { kind: "limit", limit: "resultBytes", limitValue: resultBytes, message: `The value of the program is ${bytes} bytes, the limit is ${resultBytes} (resultBytes). Return less: a count, a part, an aggregate.` } };
  }
  try {
    return { end, value: { wire: end.value, value: decodeValue(end.value) } };
  } catch (error) {
    return { end: { kind: "crashed", message: `the sandbox sent a value that cannot be read (${error instanceof Error ? error.message : "unknown"})` } };
  }
}

/** A guest that ended by itself leaves its writes to come to their end; one that was ended takes all of them along. */
async function settleCalls(scope: RunScope, desk: CallDesk, { end, aborted }: { readonly end: GuestEnd; readonly aborted: Promise<void> | undefined }): Promise<void> {
  const open = desk.calls.filter(({ state }) => state === "open" || state === "queued");
  if (aborted !== undefined) return await aborted;
  if (end.kind !== "returned" && end.kind !== "threw") return await desk.settle("abort");
  const writes = open.filter(({ effect }) => effect !== "read");
  if (open.length > 0) scope.notices.add(openNotice(open.length, writes.map(({ tool }) => tool)));
  await desk.settle("drain");
}

function openNotice(count: number, writes: readonly string[]): string {
  const what = count === 1 ? "One call was" : `${count} calls were`;
  const names = [...new Set(writes)].slice(0, 5).join(", ");
  const rest = writes.length === 0 ? "Reads were cancelled" : `Writes were carried through (${names}), reads cancelled`;
  return `${what} not awaited when the program ended. ${rest}. Await every call whose result counts.`;
}

function observePauses(scope: RunScope, wall: WallClock): () => void {
  return scope.seams.observe(scope.runId, (event) => {
    if (event.kind === "approval-asked" || (event.kind === "call-waiting" && event.waits)) wall.pause(event.callId);
    else if (event.kind === "approval-answered" || event.kind === "call-ended" || event.kind === "call-waiting") wall.resume(event.callId);
  });
}
