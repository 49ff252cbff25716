import { CallgateError } from "@callgate/contract";
import type { GuestCompletion, GuestEnd, GuestHost, GuestJob, GuestRun } from "@callgate/contract";
import type { GuestFrame } from "../frames/guest-frame.ts";
import type { GuestExit } from "../launcher/launcher.ts";
import { createOutputCapture } from "../output/output-capture.ts";
import type { OutputCapture } from "../output/output-capture.ts";
import { createReportFilter } from "../output/memory-report.ts";
import { createGuestCalls } from "./guest-calls.ts";
import type { GuestCalls } from "./guest-calls.ts";
import { deathEnd, exitEnd, limitEnd, unfinishedEnd } from "./guest-end.ts";
import type { StartedGuest } from "./started-guest.ts";
import { watchUse } from "./watch-use.ts";
import type { UseWatch } from "./watch-use.ts";

/** What files a run may bring back. */
export interface ArtifactBounds {
  readonly artifactMiB: number;
  readonly artifacts: number;
}

export interface RunGuestOptions {
  readonly job: GuestJob;
  readonly host: GuestHost;
  /** Brings the guest the program runs in. Rejects when none can be started. */
  readonly acquire: () => Promise<StartedGuest>;
  readonly artifacts: ArtifactBounds;
}

const omittedText = Buffer.from("Some files of out/ were left out: they are more than a run may bring back\n");

/** A plain program's children may hold its output open; they are not waited for longer. */
const drainMs = 100;

/** Runs one program in a guest of its own, which is ended with it. */
export function runInGuest({ job, host, acquire, artifacts }: RunGuestOptions): GuestRun {
  const { limits } = job;
  const { promise: ended, resolve } = Promise.withResolvers<GuestEnd>();
  const capture = createOutputCapture({ maxBytes: limits.consoleBytes, tell: (output) => output.length > 0 && host.onOutput(output) });
  const calls = createGuestCalls(limits);
  let guest: StartedGuest | undefined;
  let watch: UseWatch | undefined;
  let end: GuestEnd | undefined;
  let isTold = false;
  const hear = createHearing({ job, host, artifacts, capture, calls, finish });

  /** Decides the end. From here on nothing of the guest counts but what it printed. */
  function finish(decided: GuestEnd): void {
    if (end !== undefined) return;
    end = decided;
    watch?.stop();
    if (guest === undefined) settle();
    else guest.kill();
  }

  function settle(): void {
    if (isTold || end === undefined) return;
    isTold = true;
    capture.end();
    resolve(end);
  }

  async function begin(): Promise<void> {
    const started = (guest = await acquire());
    const problem = await started.ready;
    const report = createReportFilter(started.language.memoryReport);
    started.listen({
      frame: (frame) => (frame.kind === "stream" || end === undefined) && hear(frame),
      stream: (stream, bytes) => capture.stream(stream, stream === 2 ? report.pass(bytes) : bytes),
      connection: (connection) => host.onOutput([{ kind: "connection", connection }]),
      broken: (message) => finish(brokenEnd(message)),
      omitted: () => capture.stream(2, omittedText),
      status: (code) => whenDrained(started, () => finish(exitEnd(code))),
    });
    const died = (gone: GuestExit): void => {
      const exit = { ...gone, outOfMemory: gone.outOfMemory || report.isSeen };
      const used = { limits, cpuMs: watch?.cpuMs ?? 0 };
      finish(started.language.kind === "plain" ? unfinishedEnd(exit, used) : deathEnd(exit, used));
    };
    started.gone.then(died, () => undefined).then(settle, () => undefined);
    if (end !== undefined) return started.kill();
    if (problem !== undefined) return finish({ kind: "crashed", ...problem });
    watch = watchUse({ use: () => started.use(), limits, slackMiB: slackOf(started), over: (limit) => finish(limitEnd(limit, limits)) });
    sendJob(started, job, artifacts);
  }

  begin().catch((fault: unknown) => {
    finish(unstartedEnd(fault));
    settle();
  });

  return {
    ended,
    cancel: () => finish({ kind: "cancelled" }),
    deliver(completions: readonly GuestCompletion[]) {
      for (const completion of completions) {
        if (end !== undefined || guest === undefined) return;
        const answer = calls.answer(completion);
        if (answer === undefined) return finish({ kind: "crashed", message: `the host answered call ${completion.seq}, which is not open` });
        guest.send(answer.head, answer.payload);
      }
    },
  };
}

interface Hearing extends Pick<RunGuestOptions, "job" | "host" | "artifacts"> {
  readonly capture: OutputCapture;
  readonly calls: GuestCalls;
  readonly finish: (end: GuestEnd) => void;
}

/** What each frame of a running guest does. */
function createHearing({ job: { limits }, host, artifacts, capture, calls, finish }: Hearing): (frame: GuestFrame) => void {
  const files = createFileBudget(artifacts);
  let textBytes = 0;
  const broken = (message: string): void => finish(brokenEnd(message));
  return (frame) => {
    switch (frame.kind) {
      case "stream":
        return capture.stream(frame.stream, frame.bytes);
      case "call":
      case "builtin":
      case "timer": {
        const call = calls.open(frame);
        if (typeof call === "string") return broken(call);
        capture.flush();
        return host.onCalls([call]);
      }
      case "blocked":
        return host.onBlocked?.(frame.delivered);
      case "console":
        return capture.console({ level: frame.level, text: frame.text });
      case "progress":
        return capture.progress(frame);
      case "text":
        textBytes += Buffer.byteLength(frame.text);
        return textBytes > limits.resultBytes ? finish(limitEnd("resultBytes", limits)) : host.onOutput([frame]);
      case "artifact":
        return files.add(frame) ? host.onOutput([{ kind: "artifact", artifact: { name: frame.name, mimeType: frame.mimeType, bytes: frame.bytes } }]) : broken("more files than allowed were sent");
      case "returned":
        return finish(Buffer.byteLength(frame.value.json) > limits.resultBytes ? limitEnd("resultBytes", limits) : { kind: "returned", value: frame.value });
      case "threw":
        return finish({ kind: "threw", error: frame.error });
      case "stalled":
        return finish({ kind: "stalled" });
      case "limit":
        return finish(limitEnd(frame.limit, limits));
      case "hello":
        return broken("it said hello twice");
    }
  };
}

function slackOf(guest: StartedGuest): number {
  const { growthMiB } = guest.language;
  return growthMiB === undefined ? guest.bounds.workspaceMiB + 96 : (guest.use()?.memoryMiB ?? 96) + growthMiB;
}

function unstartedEnd(fault: unknown): GuestEnd {
  const missingProgram = CallgateError.is(fault) ? fault.details["missingProgram"] : undefined;
  return { kind: "crashed", message: fault instanceof Error ? fault.message : "the guest could not be started", ...(typeof missingProgram === "string" ? { missingProgram } : {}) };
}

function brokenEnd(message: string): GuestEnd {
  return { kind: "crashed", message: `the guest broke its protocol: ${message}` };
}

function whenDrained(guest: StartedGuest, then: () => void): void {
  const late = setTimeout(then, drainMs);
  guest.drained.then(then, () => undefined).finally(() => clearTimeout(late)).catch(() => undefined);
}

function sendJob(guest: StartedGuest, { code, modules, seed, startMs, limits, language }: GuestJob, { artifactMiB, artifacts }: ArtifactBounds): void {
  if (guest.language.kind === "plain") return guest.sendText(code);
  const bounds = { dataBytes: limits.memoryMiB * 1024 * 1024, cpuSeconds: Math.ceil(limits.cpuMs / 1000), artifactBytes: artifactMiB * 1024 * 1024, artifacts };
  const { argumentBytes, resultBytes, consoleBytes } = limits;
  guest.send({ k: "job", language, modules, seed, startMs, limits: { argumentBytes, resultBytes, consoleBytes }, bounds }, code);
}

function createFileBudget({ artifactMiB, artifacts }: ArtifactBounds): { add(file: { readonly bytes: Buffer }): boolean } {
  let bytesLeft = artifactMiB * 1024 * 1024;
  let left = artifacts;
  return {
    add({ bytes }) {
      bytesLeft -= bytes.length;
      left -= 1;
      return bytesLeft >= 0 && left >= 0;
    },
  };
}
