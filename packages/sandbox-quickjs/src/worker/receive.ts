import type { GuestConsoleEntry, GuestError, GuestOutput } from "@callgate/contract";
import type { Pointer } from "../engine/abi.ts";
import { emitted } from "../guest-protocol.ts";
import { libraryTexts } from "../guest-text.ts";
import { endFromError, resultEnd } from "./guest-end.ts";
import type { GuestState } from "./guest-state.ts";
import { isSettled } from "./guest-state.ts";
import { parseUrl } from "./parse-url.ts";

/**
 * The guest's one host function: what it says, told apart by its first argument. Returns the answer, 0 for undefined.
 * May throw; the caller keeps that out of the engine.
 */
export function receive(state: GuestState, values: Pointer, count: number): Pointer {
  const { numberAt, textAt, number, text } = state.values;
  const jsonAt = (index: number): string => JSON.parse(textAt(values, index)) as string;
  const kind = numberAt(values, 0);
  switch (kind) {
    case emitted.tool:
    case emitted.builtin:
      return number(receiveCall(state, { kind, values, count }));
    case emitted.timer:
      return number(receiveTimer(state, numberAt(values, 1)));
    case emitted.timerCleared:
      state.open.set(numberAt(values, 1), "cleared");
      return 0;
    case emitted.console:
      print(state, { kind: "console", entry: { level: textAt(values, 1) as GuestConsoleEntry["level"], text: jsonAt(2) } });
      return 0;
    case emitted.progress: {
      const fraction = numberAt(values, 2);
      print(state, { kind: "progress", message: jsonAt(1), ...(Number.isNaN(fraction) ? {} : { fraction }) });
      return 0;
    }
    case emitted.text:
      addText(state, jsonAt(1));
      return 0;
    case emitted.library:
      return text(libraryTexts[textAt(values, 1)] ?? "");
    case emitted.url:
      return text(parseUrl(textAt(values, 1)));
    default:
      receiveEnd(state, kind, values);
      return 0;
  }
}

function receiveEnd(state: GuestState, kind: number, values: Pointer): void {
  const { limits } = state.job;
  const { numberAt, textAt } = state.values;
  if (kind === emitted.resultTooLarge) state.end ??= resultEnd(limits);
  if (kind === emitted.error) state.end ??= endFromError(JSON.parse(textAt(values, 1)) as GuestError, limits, state.outOfMemory);
  if (kind !== emitted.result || state.end !== undefined) return;
  const json = textAt(values, 2);
  state.end = Buffer.byteLength(json) > limits.resultBytes ? resultEnd(limits) : { kind: "returned", value: { json, tagged: numberAt(values, 1) === 1 } };
}

/** 1 accepted, 0 the run has settled, 2 over the limit of argument bytes. */
function receiveCall(state: GuestState, { kind, values, count }: { readonly kind: number; readonly values: Pointer; readonly count: number }): 0 | 1 | 2 {
  if (state.end !== undefined || isSettled(state)) return 0;
  const { numberAt, textAt } = state.values;
  const name = textAt(values, 1);
  const json = textAt(values, 3);
  if (Buffer.byteLength(json) > state.job.limits.argumentBytes) return 2;
  const args = { json, tagged: numberAt(values, 2) === 1 };
  const seq = state.nextSeq++;
  state.open.set(seq, "call");
  const place = count > 5 ? { line: numberAt(values, 4), column: numberAt(values, 5) } : {};
  state.calls.push(kind === emitted.tool ? { kind: "tool", seq, tool: name, args, ...place } : { kind: "builtin", seq, name: name as "search", args, atMs: state.nowMs, ...place });
  if (state.calls.length >= callsInPart) handOver(state);
  return 1;
}

/** So many calls are worth a message of their own: the host performs them while the guest issues the next. */
const callsInPart = 16;

function handOver(state: GuestState): void {
  const { calls, outputs, delivered } = state;
  state.calls = [];
  state.outputs = [];
  state.job.part({ calls, outputs, delivered, cpuMs: state.clock.endedMs(), isPart: true });
}

function receiveTimer(state: GuestState, delayMs: number): 0 | 1 {
  if (state.end !== undefined || isSettled(state)) return 0;
  const seq = state.nextSeq++;
  state.open.set(seq, "timer");
  state.calls.push({ kind: "timer", seq, delayMs, atMs: state.nowMs });
  return 1;
}

function print(state: GuestState, output: GuestOutput & { kind: "console" | "progress" }): void {
  const bytes = Buffer.byteLength(output.kind === "console" ? output.entry.text : output.message) + 1;
  if (state.printedBytes + bytes > state.job.limits.consoleBytes) {
    state.droppedBytes += bytes;
    return;
  }
  state.printedBytes += bytes;
  state.outputs.push(output);
}

function addText(state: GuestState, text: string): void {
  state.textBytes += Buffer.byteLength(text);
  if (state.textBytes > state.job.limits.resultBytes) state.end ??= resultEnd(state.job.limits);
  else state.outputs.push({ kind: "text", text });
}
