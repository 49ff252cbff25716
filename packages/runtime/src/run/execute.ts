import { decodeValue } from "@callgate/contract";
import type { GuestEnd, GuestJob, LimitName, SandboxDriver, WireValue } from "@callgate/contract";
import { createCallDesk } from "./call-desk.ts";
import type { CallDesk } from "./call-desk.ts";
import type { BuiltinReader } from "./builtins.ts";
import { driveGuest } from "./drive-guest.ts";
import { createOutputSink } from "./guest-output.ts";
import type { OutputSink } from "./guest-output.ts";
import { createPump } from "./pump.ts";
import type { RunScope } from "./run-scope.ts";
import type { TokenMeter } from "./token-meter.ts";
import type { ToolCall } from "./tool-call.ts";
import { startWallClock } from "./wall-clock.ts";
import type { WallClock } from "./wall-clock.ts";

export interface ExecuteOptions {
  readonly driver: SandboxDriver;
  readonly job: GuestJob;
  /** The caller's, and the gate's own end. */
  readonly signal: AbortSignal;
  readonly reader: BuiltinReader;
}

/** How the execution of a program came out. Nothing of it lives any more. */
export interface Executed {
  readonly end: GuestEnd;
  /** The decoded value, when it returned. */
  readonly value?: { readonly wire: WireValue; readonly value: unknown };
  readonly output: OutputSink;
  readonly calls: readonly ToolCall[];
  readonly meter: TokenMeter;
}

/**
 * Runs a checked program with live answers until it has ended and every call of it as well (DESIGN P8). What a guest
 * can end in is a value; this never rejects.
 */
export async function execute(scope: RunScope, { driver, job, signal, reader }: ExecuteOptions): Promise<Executed> {
  const { seams, limits, log } = scope;
  const limit = (name: LimitName, message: string): GuestEnd => ({ kind: "limit", limit: name, limitValue: limits[name], message });
  const desk = createCallDesk(scope, {
    reader,
    ready: (answered) => pump.ready(answered),
    tooManyCalls: () => stop(limit("calls", `The program made more than ${limits.calls} calls (limit calls). Do more with one call, or split the work over several runs.`)),
  });
  const output = createOutputSink(scope, { textTooLarge: () => stop(limit("resultBytes", `text() gave more than ${limits.resultBytes} bytes (limit resultBytes). Return less, or write it to a file with a tool.`)) });
  const pump = createPump({ clock: seams.clock, log, startMs: job.startMs, deliver: (completions) => guest.deliver(completions) });
  const guest = driveGuest(driver, job, { calls: (calls) => desk.issue(calls), output: (said) => output.take(said) });
  const wall = startWallClock(seams.clock, limits.wallMs, () => stop(limit("wallMs", `The run took longer than ${limits.wallMs} ms (limit wallMs), not counting the time people took to answer.`)));
  const unobserve = observePauses(scope, wall);
  const cancelled = (): void => stop({ kind: "cancelled" });
  signal.addEventListener("abort", cancelled, { once: true });
  if (signal.aborted) cancelled();

  let aborted: Promise<void> | undefined;
  function stop(end: GuestEnd): void {
    pump.stop();
    guest.stop(end);
    aborted ??= desk.settle("abort");
  }

  const ended = readEnd(await guest.ended, limits.resultBytes);
  pump.stop();
  await settleCalls(scope, desk, { end: ended.end, aborted });
  // Aborting while the last writes drain is still possible: the signal and the wall clock are kept until here.
  signal.removeEventListener("abort", cancelled);
  unobserve();
  wall.stop();
  return { ...ended, output, calls: desk.calls, meter: desk.meter };
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
    if (event.kind === "approval-asked") wall.pause(event.callId);
    else if (event.kind === "approval-answered" || event.kind === "call-ended") wall.resume(event.callId);
  });
}
