import type { GuestCompletion, GuestEnd, GuestError, RunLimits } from "@callgate/contract";
import type { EngineHooks, Pointer } from "../engine/abi.ts";
import { growMemory, initialPages } from "../engine/instance.ts";
import type { PreparedEngine } from "./engine.ts";
import { evaluate } from "./engine.ts";
import { cpuEnd, endFromError, memoryEnd } from "./guest-end.ts";
import type { GuestStart, GuestState } from "./guest-state.ts";
import { createGuestState, isSettled, isWaiting } from "./guest-state.ts";
import { jsonToBinary } from "./json-to-binary.ts";
import type { StretchMessage } from "./messages.ts";
import { receive } from "./receive.ts";
import { noteRejection, tellRejections } from "./rejections.ts";

/** What one stretch gave: from an entry until the guest blocks or ends. */
export type Stretch = Omit<StretchMessage, "key">;

/** One guest in one engine. Entered by one caller at a time; after an end it is not entered again. */
export interface Guest {
  start(): Stretch;
  /** Delivers one at a time, in order, running the guest until it blocks between two (the pump, DESIGN D7). */
  deliver(completions: readonly GuestCompletion[]): Stretch;
  /** False when something was thrown through the engine: it must not be used again. */
  readonly isHealthy: boolean;
}

/** Puts a program into a prepared engine. Nothing runs before `start`. */
export function createGuest(engine: PreparedEngine, job: GuestStart): Guest {
  const state = createGuestState(engine, job);
  const hooks = createHooks(state);

  const stretch = (enter: () => void): Stretch => {
    engine.instance.hooks = hooks;
    state.clock.begin();
    try {
      if (job.cancelled()) state.end = { kind: "cancelled" };
      else enter();
      if (state.end === undefined && !isWaiting(state)) tellRejections(state);
    } catch (thrown) {
      state.healthy = false;
      if (state.end?.kind !== "limit" && state.end?.kind !== "cancelled") state.end = endFromFault(thrown, job.limits, state.outOfMemory);
    }
    // A promise chain that ran out of memory swallows the error: nothing is left to run, and that is why.
    if (state.end === undefined && !isWaiting(state)) state.end = state.outOfMemory ? memoryEnd(job.limits) : { kind: "stalled" };
    return gather(state);
  };

  return {
    get isHealthy() {
      return state.healthy;
    },
    start: () => stretch(() => startProgram(state)),
    deliver: (completions) =>
      stretch(() => {
        for (const completion of completions) if (state.end === undefined) takeOne(state, completion);
      }),
  };
}

function createHooks(state: GuestState): EngineHooks {
  const { job, clock, engine } = state;
  const maxPages = Math.max(initialPages, engine.memoryMiB * 16);
  return {
    now: () => state.nowMs,
    shouldInterrupt() {
      if (state.end !== undefined && state.end.kind !== "returned") return true;
      if (job.cancelled()) state.end = { kind: "cancelled" };
      else if (clock.isOver()) state.end = cpuEnd(job.limits);
      else return false;
      return true;
    },
    rejected(promise, value, isHandled) {
      noteRejection(state, promise, { value, isHandled });
    },
    grow(bytes) {
      const isGrown = growMemory(engine.instance.memory, bytes, maxPages);
      if (!isGrown) state.outOfMemory = true;
      return isGrown;
    },
    callHost(_context, count, values) {
      try {
        return receive(state, values, count);
      } catch (thrown) {
        // Nothing may be thrown through the engine's frames.
        state.healthy = false;
        state.end ??= endFromFault(thrown, job.limits, state.outOfMemory);
        return 0;
      }
    },
  };
}

function gather(state: GuestState): Stretch {
  const { calls, outputs, delivered, droppedBytes, end } = state;
  state.calls = [];
  state.outputs = [];
  if (end !== undefined && droppedBytes > 0) outputs.push({ kind: "console-dropped", droppedBytes });
  return { calls, outputs, delivered, cpuMs: state.clock.end(), ...(end === undefined ? {} : { end }) };
}

/** The engine's stack may not be larger: beyond it the host's own would overflow first. */
const maxStackKiB = 256;

function startProgram(state: GuestState): void {
  const { engine, values, job } = state;
  const { instance, parts } = engine;
  instance.exports.setMaxStackSize(parts.runtime, Math.min(job.limits.stackKiB, maxStackKiB) * 1024);
  const program = evaluate(engine, job.code, parts.programFile);
  if (reportThrown(state, program)) return;
  const started = values.call(parts.entries.start, [program, values.text(job.seed), values.number(job.limits.argumentBytes), values.number(job.limits.resultBytes), values.number(job.places === true ? 1 : 0)]);
  if (reportThrown(state, started)) return;
  state.main = started;
  drain(state);
}

/** Hands what was thrown, if anything, to the prelude to describe. True when something was thrown. */
function reportThrown(state: GuestState, value: Pointer): boolean {
  const { values, engine } = state;
  const thrown = values.thrown(value);
  if (thrown === 0) return false;
  if (state.end === undefined) values.free(values.call(engine.parts.entries.settleError, [thrown]));
  return true;
}

/** Runs jobs one at a time, so that nothing runs once the program's promise has settled. */
function drain(state: GuestState): void {
  const { instance, parts } = state.engine;
  const { exports } = instance;
  while (state.end === undefined && !isSettled(state)) {
    if (exports.isJobPending(parts.runtime) !== 1) return;
    state.values.free(exports.executePendingJob(parts.runtime, 1, parts.scratch));
  }
  if (state.end === undefined) tellRejections(state);
  if (state.end !== undefined) return;
  const { settleValue, settleError } = parts.entries;
  const isValue = exports.promiseState(parts.context, state.main) === 1;
  const result = state.values.call(isValue ? settleValue : settleError, [exports.promiseResult(parts.context, state.main)]);
  if (!reportThrown(state, result)) state.values.free(result);
  state.end ??= state.outOfMemory ? memoryEnd(state.job.limits) : { kind: "crashed", message: "The program's value could not be read" };
}

function takeOne(state: GuestState, completion: GuestCompletion): void {
  const { values, open } = state;
  const { limits } = state.job;
  if (!open.delete(completion.seq)) {
    state.end = { kind: "crashed", message: `The host answered call ${completion.seq}, which is not open` };
    return;
  }
  state.nowMs = completion.atMs;
  state.delivered += 1;
  let answer = answerFor(completion, limits);
  const built = answer.kind === 0 && !answer.tagged && answer.json.length >= largeChars ? buildValue(state, answer.json) : 0;
  if (built !== 0) return hand(state, { seq: completion.seq, kind: 2, tagged: 0, value: built });
  let text = values.text(answer.json);
  if (text === 0) {
    answer = answerTooLarge(`does not fit the program's ${limits.memoryMiB} MiB of memory (memoryMiB)`, { limit: "memoryMiB", limitValue: limits.memoryMiB });
    text = values.text(answer.json);
  }
  if (text === 0) {
    state.end = memoryEnd(limits);
    return;
  }
  hand(state, { seq: completion.seq, kind: answer.kind, tagged: answer.tagged ? 1 : 0, value: text });
}

/** Below it the engine parses the text itself, sooner than it could be rewritten for it. */
const largeChars = 16 * 1024;

/** The value of plain JSON, made without the engine's JSON.parse; 0 where only that can make it. */
function buildValue({ values }: GuestState, json: string): Pointer {
  const binary = jsonToBinary(json);
  return binary === undefined ? 0 : values.binary(binary);
}

/** Gives a completion to the prelude and runs what it wakes. `value` is JSON text, or the value itself where kind is 2. */
function hand(state: GuestState, { seq, kind, tagged, value }: { readonly seq: number; readonly kind: 0 | 1 | 2; readonly tagged: 0 | 1; readonly value: Pointer }): void {
  const { values, engine } = state;
  const result = values.call(engine.parts.entries.deliver, [values.number(seq), values.number(kind), values.number(tagged), value]);
  if (!reportThrown(state, result)) values.free(result);
  drain(state);
}

/** A completion in the prelude's terms: `kind` 0 is a value, 1 an error. */
interface Answer {
  readonly kind: 0 | 1;
  readonly json: string;
  readonly tagged: boolean;
}

function answerFor({ result }: GuestCompletion, { callResultBytes }: RunLimits): Answer {
  if (result.kind === "error") return { kind: 1, json: JSON.stringify(result.error), tagged: false };
  const { json, tagged } = result.value;
  // A UTF-16 unit is three bytes of UTF-8 at most.
  if (json.length * 3 <= callResultBytes || Buffer.byteLength(json) <= callResultBytes) return { kind: 0, json, tagged };
  return answerTooLarge(`is over the limit of ${callResultBytes} bytes (callResultBytes)`, { limit: "callResultBytes", limitValue: callResultBytes });
}

function answerTooLarge(why: string, details: object): Answer {
  const error: GuestError = {
    name: "ToolError",
    code: "LIMIT_EXCEEDED",
    message: `The result ${why}; the call itself was made. Ask the tool for less, or page through it`,
    details: { json: JSON.stringify(details), tagged: false },
  };
  return { kind: 1, json: JSON.stringify(error), tagged: false };
}

function endFromFault(thrown: unknown, limits: RunLimits, outOfMemory: boolean): GuestEnd {
  if (outOfMemory) return memoryEnd(limits);
  if (thrown instanceof RangeError) return endFromError({ name: "InternalError", message: "stack overflow" }, limits, false);
  return { kind: "crashed", message: `The engine failed: ${thrown instanceof Error ? thrown.message : "unknown"}` };
}
