import type { GuestCompletion, GuestEnd, GuestHost, GuestJob, GuestRun } from "@callgate/contract";
import type { GuestExit } from "../launcher/launcher.ts";
import { createOutputCapture } from "../output/output-capture.ts";
import { createReportFilter } from "../output/memory-report.ts";
import { createGuestCalls } from "./guest-calls.ts";
import { deathEnd, exitEnd, limitEnd, missingEnd, unfinishedEnd } from "./guest-end.ts";
import { brokenEnd, createHearing, sendJob, slackOf, unstartedEnd } from "./guest-hearing.ts";
import type { ArtifactBounds } from "./artifact-bounds.ts";
import { createPlainHearing } from "./plain-hearing.ts";
import type { StartedGuest } from "./started-guest.ts";
import { watchUse } from "./watch-use.ts";
import type { UseWatch } from "./watch-use.ts";

export interface RunGuestOptions {
  readonly job: GuestJob;
  readonly host: GuestHost;
  /** Brings the guest the program runs in. Rejects when none can be started. */
  readonly acquire: () => Promise<StartedGuest>;
  readonly artifacts: ArtifactBounds;
}

/** A plain program's children may hold its output open; they are not waited for longer. What brings its own output may be slow on a busy machine. */
const drainMs = 500;

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
    const plain = createPlainHearing({ artifacts, file: (file) => end === undefined && hear(file), note: (text) => capture.stream(2, text), ended: (code) => whenDrained(started, () => finish(exitEnd(code))), missing: () => finish(missingEnd(started.language)) });
    started.listen({
      frame: (frame) => (frame.kind === "stream" || end === undefined) && hear(frame),
      control: (bytes) => plain.push(bytes),
      stream: (stream, bytes) => capture.stream(stream, stream === 2 ? report.pass(bytes) : bytes),
      connection: (connection) => host.onOutput([{ kind: "connection", connection }]),
      broken: (message) => finish(brokenEnd(message)),
    });
    const died = (exit: GuestExit): void => finish((started.language.kind === "plain" ? unfinishedEnd : deathEnd)({ ...exit, outOfMemory: exit.outOfMemory || report.isSeen }, { limits, cpuMs: watch?.cpuMs ?? 0 }));
    started.gone.then(died, () => undefined).then(settle, () => undefined);
    if (end !== undefined) return started.kill();
    if (problem !== undefined) return finish({ kind: "crashed", ...problem });
    watch = watchUse({ use: () => started.use(), limits, slackMiB: slackOf(started), over: (limit) => finish(limitEnd(limit, limits)) });
    if (started.language.kind === "plain") started.endWith(job.code);
    else sendJob(started, job, artifacts);
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

function whenDrained(guest: StartedGuest, then: () => void): void {
  const late = setTimeout(then, drainMs);
  guest.drained.then(then, () => undefined).finally(() => clearTimeout(late)).catch(() => undefined);
}
