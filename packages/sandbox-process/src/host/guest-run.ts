import type { GuestCompletion, GuestEnd, GuestHost, GuestJob, GuestRun } from "@callgate/contract";
import type { GuestExit } from "../launcher/launcher.ts";
import { createOutputCapture } from "../output/output-capture.ts";
import { createReportFilter } from "../output/memory-report.ts";
import { createGuestCalls } from "./guest-calls.ts";
import { deathEnd, limitEnd, unfinishedEnd } from "./guest-end.ts";
import { brokenEnd, createHearing, sendJob, slackOf, unstartedEnd } from "./guest-hearing.ts";
import type { ArtifactBounds } from "./artifact-bounds.ts";
import { hearPlainProgram } from "./plain-program.ts";
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
    const plain = hearPlainProgram(started, { artifacts, file: (file) => end === undefined && hear(file), tell: (stream, bytes) => capture.stream(stream, bytes), finish });
    started.listen({
      frame: (frame) => (frame.kind === "stream" || end === undefined) && hear(frame),
      control: (bytes) => plain.control(bytes),
      stream: (stream, bytes) => plain.stream(stream, stream === 2 ? report.pass(bytes) : bytes),
      connection: (connection) => host.onOutput([{ kind: "connection", connection }]),
      broken: (message) => finish(brokenEnd(message)),
    });
    const died = (exit: GuestExit): void => finish(plain.end ?? (started.language.kind === "plain" ? unfinishedEnd : deathEnd)({ ...exit, outOfMemory: exit.outOfMemory || report.isSeen }, { limits, cpuMs: watch?.cpuMs ?? 0 }));
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
