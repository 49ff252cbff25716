import type { GuestCall, GuestCompletion, GuestConsoleEntry, GuestEnd, GuestError, GuestOutput, RunLimits } from "@callgate/contract";
import type { EngineHooks, Pointer } from "../engine/abi.ts";
import { growMemory, initialPages } from "../engine/instance.ts";
import { emitted } from "../guest-protocol.ts";
import { libraryTexts } from "../guest-text.ts";
import type { PreparedEngine } from "./engine.ts";
import { evaluate } from "./engine.ts";
import { parseUrl } from "./parse-url.ts";
import { cpuEnd, endFromError, memoryEnd, resultEnd } from "./guest-end.ts";

export interface GuestStart {
  readonly code: string;
  readonly seed: string;
  readonly startMs: number;
  readonly limits: RunLimits;
  /** True once somebody asked for this guest to stop. Read while it computes. */
  cancelled(): boolean;
}

/** What one stretch gave: from an entry until the guest blocks or ends. */
export interface Stretch {
  readonly calls: readonly GuestCall[];
  readonly outputs: readonly GuestOutput[];
  readonly delivered: number;
  readonly cpuMs: number;
  readonly end?: GuestEnd;
}

/** One guest in one engine. Entered by one caller at a time; after an end it is not entered again. */
export interface Guest {
  start(): Stretch;
  /** Delivers one at a time, in order, running the guest until it blocks between two (the pump, DESIGN D7). */
  deliver(completions: readonly GuestCompletion[]): Stretch;
  /** False when something was thrown through the engine: it must not be used again. */
  readonly healthy: boolean;
}

type OpenCall = "call" | "timer" | "cleared";

/** Puts a program into a prepared engine. Nothing runs before `start`. */
export function createGuest(engine: PreparedEngine, job: GuestStart): Guest {
  const { instance, parts } = engine;
  const { exports } = instance;
  const { context } = parts;
  const { limits } = job;
  const open = new Map<number, OpenCall>();
  let calls: GuestCall[] = [];
  let outputs: GuestOutput[] = [];
  let nextSeq = 0;
  let delivered = 0;
  let nowMs = job.startMs;
  let main: Pointer = 0;
  let end: GuestEnd | undefined;
  let healthy = true;
  let outOfMemory = false;
  let printedBytes = 0;
  let droppedBytes = 0;
  let textBytes = 0;
  const clock = createCpuClock(limits.cpuMs);

  const settled = (): boolean => main !== 0 && exports.promiseState(context, main) !== 0;
  const openCount = (): number => {
    let count = 0;
    for (const state of open.values()) if (state !== "cleared") count += 1;
    return count;
  };

  const hooks: EngineHooks = {
    now: () => nowMs,
    shouldInterrupt() {
      if (end !== undefined && end.kind !== "returned") return true;
      if (job.cancelled()) end = { kind: "cancelled" };
      else if (clock.isOver()) end = cpuEnd(limits);
      return end !== undefined;
    },
    grow(bytes) {
      const grown = growMemory(instance.memory, bytes, Math.max(initialPages, engine.memoryMiB * 16));
      if (!grown) outOfMemory = true;
      return grown;
    },
    callHost(_context, _count, values) {
      try {
        return receive(values);
      } catch (thrown) {
        // Nothing may be thrown through the engine's frames.
        healthy = false;
        end ??= { kind: "crashed", message: `The sandbox failed on its own side: ${thrown instanceof Error ? thrown.message : "unknown"}` };
        return 0;
      }
    },
  };

  const numberAt = (values: Pointer, index: number): number => exports.getFloat64(context, values + index * 8);
  const textAt = (values: Pointer, index: number): string => {
    const pointer = exports.getString(context, values + index * 8);
    if (pointer === 0) throw new RangeError("out of memory while reading from the guest");
    const text = instance.readText(pointer);
    exports.freeCString(context, pointer);
    return text;
  };
  const answer = (value: number): Pointer => exports.newFloat64(context, value);

  const receive = (values: Pointer): Pointer => {
    const kind = numberAt(values, 0);
    switch (kind) {
      case emitted.tool:
      case emitted.builtin:
        return answer(receiveCall(kind, values));
      case emitted.timer:
        if (settled() || end !== undefined) return answer(0);
        calls.push({ kind: "timer", seq: nextSeq, delayMs: numberAt(values, 1) });
        open.set(nextSeq++, "timer");
        return answer(1);
      case emitted.timerCleared:
        open.set(numberAt(values, 1), "cleared");
        return 0;
      case emitted.console:
        print({ kind: "console", entry: { level: textAt(values, 1) as GuestConsoleEntry["level"], text: JSON.parse(textAt(values, 2)) as string } });
        return 0;
      case emitted.progress: {
        const fraction = numberAt(values, 2);
        const message = JSON.parse(textAt(values, 1)) as string;
        print(Number.isNaN(fraction) ? { kind: "progress", message } : { kind: "progress", message, fraction });
        return 0;
      }
      case emitted.text:
        addText(JSON.parse(textAt(values, 1)) as string);
        return 0;
      case emitted.result: {
        const json = textAt(values, 2);
        end ??= Buffer.byteLength(json) > limits.resultBytes ? resultEnd(limits) : { kind: "returned", value: { json, tagged: numberAt(values, 1) === 1 } };
        return 0;
      }
      case emitted.resultTooLarge:
        end ??= resultEnd(limits);
        return 0;
      case emitted.error:
        end ??= endFromError(JSON.parse(textAt(values, 1)) as GuestError, limits, outOfMemory);
        return 0;
      case emitted.library:
        return textValue(libraryTexts[textAt(values, 1)] ?? "");
      case emitted.url:
        return textValue(parseUrl(textAt(values, 1)));
      default:
        return 0;
    }
  };

  const receiveCall = (kind: number, values: Pointer): number => {
    if (settled() || end !== undefined) return 0;
    const name = textAt(values, 1);
    const json = textAt(values, 3);
    if (Buffer.byteLength(json) > limits.argumentBytes) return 2;
    const args = { json, tagged: numberAt(values, 2) === 1 };
    const seq = nextSeq++;
    open.set(seq, "call");
    calls.push(kind === emitted.tool ? { kind: "tool", seq, tool: name, args } : { kind: "builtin", seq, name: name as "search", args });
    return 1;
  };

  const print = (output: GuestOutput & { kind: "console" | "progress" }): void => {
    const bytes = Buffer.byteLength(output.kind === "console" ? output.entry.text : output.message) + 1;
    if (printedBytes + bytes > limits.consoleBytes) droppedBytes += bytes;
    else {
      printedBytes += bytes;
      outputs.push(output);
    }
  };
  const addText = (text: string): void => {
    textBytes += Buffer.byteLength(text);
    if (textBytes > limits.resultBytes) end ??= resultEnd(limits);
    else outputs.push({ kind: "text", text });
  };

  /** Calls one of the prelude's functions with values it takes ownership of. Returns the result, owned by the caller. */
  const invoke = (entry: Pointer, values: readonly Pointer[]): Pointer => {
    const memory = instance.bytes();
    values.forEach((value, index) => memory.writeUInt32LE(value, parts.scratch + index * 4));
    const result = exports.call(context, entry, exports.getUndefined(), values.length, parts.scratch);
    for (const value of values) exports.freeValue(context, value);
    return result;
  };
  /** A text of the guest's, or 0 when its memory has no room for it. */
  const textValue = (text: string): Pointer => {
    const { pointer } = instance.writeText(text);
    if (pointer === 0) return 0;
    const value = exports.newString(context, pointer);
    exports.free(pointer);
    const thrown = value === 0 ? 0 : exports.resolveException(context, value);
    if (thrown === 0) return value;
    exports.freeValue(context, thrown);
    return 0;
  };
  /** Hands what was thrown, if anything, to the prelude to describe. True when something was thrown. */
  const reportThrown = (value: Pointer): boolean => {
    const thrown = exports.resolveException(context, value);
    if (thrown === 0) return false;
    if (end === undefined) exports.freeValue(context, invoke(parts.entries.settleError, [thrown]));
    return true;
  };

  /** Runs jobs one at a time, so that nothing runs once the program's promise has settled. */
  const drain = (): void => {
    while (end === undefined && !settled() && exports.isJobPending(parts.runtime) === 1) {
      exports.freeValue(context, exports.executePendingJob(parts.runtime, 1, parts.scratch));
    }
    if (end !== undefined || !settled()) return;
    const isValue = exports.promiseState(context, main) === 1;
    const outcome = exports.promiseResult(context, main);
    const result = invoke(isValue ? parts.entries.settleValue : parts.entries.settleError, [outcome]);
    if (!reportThrown(result)) exports.freeValue(context, result);
    end ??= outOfMemory ? memoryEnd(limits) : { kind: "crashed", message: "The program's value could not be read" };
  };

  const takeOne = (completion: GuestCompletion): void => {
    const state = open.get(completion.seq);
    if (state === undefined) {
      end = { kind: "crashed", message: `The host answered call ${completion.seq}, which is not open` };
      return;
    }
    open.delete(completion.seq);
    nowMs = completion.atMs;
    delivered += 1;
    let { kind, json, tagged } = answerFor(completion, limits);
    let text = textValue(json);
    if (text === 0) {
      ({ kind, json, tagged } = answerTooLarge(`does not fit the program's ${limits.memoryMiB} MiB of memory (memoryMiB)`, { limit: "memoryMiB", limitValue: limits.memoryMiB }));
      text = textValue(json);
    }
    if (text === 0) {
      end = memoryEnd(limits);
      return;
    }
    const result = invoke(parts.entries.deliver, [answer(completion.seq), answer(kind), answer(tagged ? 1 : 0), text]);
    if (!reportThrown(result)) exports.freeValue(context, result);
    drain();
  };

  /** Enters the guest and gathers what came of it. */
  const stretch = (enter: () => void): Stretch => {
    instance.hooks = hooks;
    clock.begin();
    try {
      if (job.cancelled()) end = { kind: "cancelled" };
      else enter();
    } catch (thrown) {
      healthy = false;
      end = end?.kind === "limit" || end?.kind === "cancelled" ? end : endFromFault(thrown, limits, outOfMemory);
    }
    if (end === undefined && openCount() === 0) end = { kind: "stalled" };
    if (end !== undefined && droppedBytes > 0) outputs.push({ kind: "console-dropped", droppedBytes });
    const gathered: Stretch = { calls, outputs, delivered, cpuMs: clock.end(), ...(end === undefined ? {} : { end }) };
    calls = [];
    outputs = [];
    return gathered;
  };

  return {
    get healthy() {
      return healthy;
    },
    start: () =>
      stretch(() => {
        exports.setMaxStackSize(parts.runtime, Math.min(limits.stackKiB, 256) * 1024);
        const program = evaluate(instance, context, job.code, parts.programFile);
        if (reportThrown(program)) return;
        const started = invoke(parts.entries.start, [program, textValue(job.seed), answer(limits.argumentBytes), answer(limits.resultBytes)]);
        if (reportThrown(started)) return;
        main = started;
        drain();
      }),
    deliver: (completions) =>
      stretch(() => {
        for (const completion of completions) {
          takeOne(completion);
          if (end !== undefined) return;
        }
      }),
  };
}

/** A completion in the prelude's terms; a value over the limit is an error that says so. */
function answerFor(completion: GuestCompletion, limits: RunLimits): { readonly kind: number; readonly json: string; readonly tagged: boolean } {
  const { result } = completion;
  if (result.kind === "error") return { kind: 1, json: JSON.stringify(result.error), tagged: false };
  const { json, tagged } = result.value;
  const { callResultBytes } = limits;
  if (json.length * 3 <= callResultBytes || Buffer.byteLength(json) <= callResultBytes) return { kind: 0, json, tagged };
  return answerTooLarge(`is over the limit of ${callResultBytes} bytes (callResultBytes)`, { limit: "callResultBytes", limitValue: callResultBytes });
}

function answerTooLarge(why: string, details: object): { readonly kind: number; readonly json: string; readonly tagged: boolean } {
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

interface CpuClock {
  begin(): void;
  end(): number;
  isOver(): boolean;
}

/**
 * Time a guest was on the CPU. Short stretches are taken by the wall; from the engine's first question on, where the
 * platform can tell (Node 24), by the thread's own CPU time, so that a busy machine does not end a run early.
 */
function createCpuClock(limitMs: number): CpuClock {
  const threadCpu = (process as { threadCpuUsage?: () => { user: number; system: number } }).threadCpuUsage?.bind(process);
  const threadMs = (): number => {
    const usage = threadCpu?.();
    return usage === undefined ? performance.now() : (usage.user + usage.system) / 1000;
  };
  let usedMs = 0;
  let beganMs = 0;
  let base: { readonly wallMs: number; readonly threadMs: number } | undefined;
  const stretchMs = (): number => (base === undefined ? performance.now() - beganMs : base.wallMs - beganMs + (threadMs() - base.threadMs));
  return {
    begin() {
      beganMs = performance.now();
      base = undefined;
    },
    end() {
      usedMs += stretchMs();
      return usedMs;
    },
    isOver() {
      base ??= { wallMs: performance.now(), threadMs: threadMs() };
      return usedMs + performance.now() - beganMs > limitMs && usedMs + stretchMs() > limitMs;
    },
  };
}
