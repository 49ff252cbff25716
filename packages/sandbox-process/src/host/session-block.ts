import { randomBytes } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { GuestBlock, GuestCompletion, GuestEnd, GuestHost, GuestJob } from "@callgate/contract";
import { shellBlock } from "../language/plain-boot.ts";
import { createMarkFilter } from "../output/mark-filter.ts";
import { createReportFilter } from "../output/memory-report.ts";
import type { GuestExit } from "../launcher/launcher.ts";
import { createOutputCapture } from "../output/output-capture.ts";
import type { OutputCapture } from "../output/output-capture.ts";
import { createGuestCalls } from "./guest-calls.ts";
import type { GuestCalls } from "./guest-calls.ts";
import { deathEnd, exitEnd, limitEnd } from "./guest-end.ts";
import { brokenEnd, createHearing, sendJob, slackOf } from "./guest-hearing.ts";
import type { ArtifactBounds } from "./artifact-bounds.ts";
import { createPlainHearing } from "./plain-hearing.ts";
import type { GuestEars, StartedGuest } from "./started-guest.ts";
import { watchUse } from "./watch-use.ts";
import type { UseWatch } from "./watch-use.ts";

export interface BlockOptions {
  readonly job: GuestJob;
  readonly host: GuestHost;
  readonly artifacts: ArtifactBounds;
  readonly memoryMiB: number;
  /** Called when a block that waits is cancelled. */
  readonly leave: (block: SessionBlock) => void;
}

/** A block as the session holds it. */
export interface SessionBlock {
  readonly told: GuestBlock;
  /**
   * Runs it in a guest that is ready. Resolves when its end is decided; `isLost` when the guest has to be ended, or is
   * gone. Then `settle` tells the end.
   */
  run(guest: StartedGuest, firstSeq: number): Promise<{ readonly end: GuestEnd; readonly isLost: boolean; readonly calls: number }>;
  settle(end: GuestEnd, isKept: boolean): void;
}

/** How long an interrupted block has to end by itself. */
const interruptMs = 300;
/** An interrupted shell may throw away what it was told; it is told again. */
const remindMs = [30, 120, 240];

export function createSessionBlock(options: BlockOptions): SessionBlock {
  return new Block(options);
}

class Block implements SessionBlock {
  readonly told: GuestBlock;
  readonly #options: BlockOptions;
  readonly #ended = Promise.withResolvers<GuestEnd>();
  readonly #kept = Promise.withResolvers<boolean>();
  readonly #decided = Promise.withResolvers<{ readonly end: GuestEnd; readonly isLost: boolean }>();
  readonly #capture: OutputCapture;
  #calls: GuestCalls;
  #guest: StartedGuest | undefined;
  #watch: UseWatch | undefined;
  #stopping: { readonly end: GuestEnd; readonly timer: NodeJS.Timeout } | undefined;
  #isDecided = false;

  constructor(options: BlockOptions) {
    this.#options = options;
    const { host, job } = options;
    this.#capture = createOutputCapture({ maxBytes: job.limits.consoleBytes, tell: (output) => output.length > 0 && host.onOutput(output) });
    this.#calls = createGuestCalls(job.limits);
    this.told = {
      ended: this.#ended.promise,
      stateKept: this.#kept.promise,
      interrupt: () => this.#interrupt(),
      cancel: () => (this.#guest === undefined ? options.leave(this) : this.#stop({ kind: "cancelled" })),
      deliver: (completions) => this.#deliver(completions),
    };
  }

  async run(guest: StartedGuest, firstSeq: number): Promise<{ readonly end: GuestEnd; readonly isLost: boolean; readonly calls: number }> {
    const { job, host, artifacts, memoryMiB } = this.#options;
    const { limits } = job;
    this.#guest = guest;
    this.#calls = createGuestCalls(limits, firstSeq);
    const report = createReportFilter(guest.language.memoryReport);
    const hear = createHearing({ job, host, artifacts, capture: this.#capture, calls: this.#calls, finish: (end) => this.#decide(end, end.kind === "crashed") });
    const ears: GuestEars = {
      frame: (frame) => (frame.kind === "stream" || !this.#isDecided) && hear(frame),
      stream: (stream, bytes) => this.#capture.stream(stream, stream === 2 ? report.pass(bytes) : bytes),
      control: () => undefined,
      connection: (connection) => host.onOutput([{ kind: "connection", connection }]),
      broken: (message) => this.#decide(brokenEnd(message), true),
    };
    const died = (exit: GuestExit): void => this.#decide(deathEnd({ ...exit, outOfMemory: exit.outOfMemory || report.isSeen }, { limits, cpuMs: this.#watch?.cpuMs ?? 0 }), true);
    guest.gone.then(died, () => undefined);
    this.#watch = watchUse({ use: () => guest.use(), limits: { cpuMs: limits.cpuMs, memoryMiB }, slackMiB: slackOf(guest), over: (limit) => this.#stop(limitEnd(limit, { ...limits, memoryMiB })) });
    if (guest.language.kind === "framed") {
      guest.listen(ears);
      sendJob(guest, job, { ...artifacts, session: { memoryMiB } });
    } else this.#remind = runInShell(guest, { ears, job, artifacts, hear, decide: (end) => this.#decide(end, false) });
    const { end, isLost } = await this.#decided.promise;
    return { end, isLost, calls: this.#calls.count };
  }

  settle(end: GuestEnd, isKept: boolean): void {
    this.#capture.end();
    this.#ended.resolve(end);
    this.#kept.resolve(isKept);
  }

  /** Asks a shell again to say that the block is over. */
  #remind = (): void => undefined;

  /** The first end counts; one the guest gives while it is being stopped is the one it is stopped for. */
  #decide(end: GuestEnd, isLost: boolean): void {
    if (this.#isDecided) return;
    this.#isDecided = true;
    this.#watch?.stop();
    clearTimeout(this.#stopping?.timer);
    // What ran out of memory has let go of what it held.
    this.#decided.resolve({ end: this.#stopping?.end ?? end, isLost: isLost || (end.kind === "limit" && end.limit === "memoryMiB") });
  }

  #stop(end: GuestEnd): void {
    if (this.#isDecided || this.#stopping !== undefined) return;
    this.#stopping = { end, timer: setTimeout(() => this.#decide(end, true), interruptMs) };
    this.#interrupt();
  }

  #interrupt(): void {
    if (this.#isDecided || this.#guest === undefined) return;
    this.#guest.interrupt();
    for (const delayMs of remindMs) setTimeout(() => (this.#isDecided ? undefined : this.#remind()), delayMs).unref();
  }

  #deliver(completions: readonly GuestCompletion[]): void {
    for (const completion of completions) {
      if (this.#isDecided || this.#guest === undefined) return;
      const answer = this.#calls.answer(completion);
      if (answer === undefined) return this.#decide({ kind: "crashed", message: `the host answered call ${completion.seq}, which is not open` }, true);
      this.#guest.send(answer.head, answer.payload);
    }
  }
}

interface ShellBlock {
  readonly ears: GuestEars;
  readonly job: GuestJob;
  readonly artifacts: ArtifactBounds;
  readonly hear: Parameters<typeof createPlainHearing>[0]["file"];
  readonly decide: (end: GuestEnd) => void;
}

/** A shell says on descriptor 4 that a block is over, and marks the place in both streams: all three must have come. */
function runInShell(guest: StartedGuest, { ears, job, artifacts, hear, decide }: ShellBlock): () => void {
  const mark = randomBytes(12).toString("hex");
  const filters = { 1: createMarkFilter(Buffer.from(`\0${mark}\0`)), 2: createMarkFilter(Buffer.from(`\0${mark}\0`)) };
  let exitCode: number | undefined;
  const look = (): void => {
    if (exitCode !== undefined && filters[1].isSeen && filters[2].isSeen) decide(exitEnd(exitCode));
  };
  const plain = createPlainHearing({
    artifacts,
    file: hear,
    note: (text) => ears.stream(2, text),
    missing: () => undefined, // A session's shell runs by then.
    ended(code) {
      exitCode = code;
      look();
    },
  });
  guest.listen({
    ...ears,
    control: (bytes) => plain.push(bytes),
    stream(stream, bytes) {
      ears.stream(stream, filters[stream].pass(bytes));
      look();
    },
  });
  const { begin, finish } = shellBlock(job.code, mark, artifacts);
  guest.write(begin + finish);
  return () => guest.write(finish);
}

/** A shell cannot take a text with the one character that ends a block. */
export function checkBlockText(job: GuestJob, kind: StartedGuest["language"]["kind"]): void {
  if (kind === "plain" && job.code.includes("\0")) throw new CallgateError("USAGE", "Cannot run the block: a shell's text holds no NUL character");
}
