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
  run(guest: StartedGuest, place: BlockPlace): Promise<{ readonly end: GuestEnd; readonly isLost: boolean; readonly calls: number }>;
  settle(end: GuestEnd, isKept: boolean): void;
}

/** Where a block stands among those of its guest. */
export interface BlockPlace {
  /** From 1. */
  readonly block: number;
  /** The guest's number of its first call. */
  readonly firstSeq: number;
}

/** How long a signal takes to come, at most, on a machine that is busy. */
const settleMs = 50;
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
  #number = 0;
  #signalledMs = Number.NEGATIVE_INFINITY;
  /** It has said that it only waits: a frame reaches it. */
  #isWaiting = false;
  #hasBegun = false;
  /** An interrupt came before it had begun. */
  #isWanted = false;
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

  async run(guest: StartedGuest, { block, firstSeq }: BlockPlace): Promise<{ readonly end: GuestEnd; readonly isLost: boolean; readonly calls: number }> {
    const { job, host, artifacts, memoryMiB } = this.#options;
    const { limits } = job;
    this.#guest = guest;
    this.#number = block;
    this.#calls = createGuestCalls(limits, firstSeq);
    const report = createReportFilter(guest.language.memoryReport);
    const hear = createHearing({ job, host, artifacts, capture: this.#capture, calls: this.#calls, finish: (end) => this.#decide(end, end.kind === "crashed") });
    const ears: GuestEars = {
      frame: (frame) => {
        if (frame.kind === "blocked") this.#isWaiting = true;
        if (frame.kind === "stream" || !this.#isDecided) hear(frame);
      },
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
      sendJob(guest, job, { ...artifacts, session: { memoryMiB, block } });
    } else this.#remind = runInShell(guest, { ears, job, artifacts, hear, begun: () => this.#begun(), decide: (end) => this.#decide(end, false) });
    if (guest.language.kind === "framed") this.#begun();
    const { end, isLost } = await this.#decided.promise;
    // A signal may still be on its way. The next block does not begin before it has come.
    const waitMs = this.#signalledMs + settleMs - performance.now();
    if (waitMs > 0) await new Promise((wake) => setTimeout(wake, waitMs));
    return { end, isLost, calls: this.#calls.count };
  }

  settle(end: GuestEnd, isKept: boolean): void {
    this.#capture.end();
    this.#ended.resolve(end);
    this.#kept.resolve(isKept);
  }

  /** It can be interrupted from now on. */
  #begun(): void {
    this.#hasBegun = true;
    if (this.#isWanted) this.#interrupt();
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
    const guest = this.#guest;
    if (this.#isDecided) return;
    this.#isWanted = true;
    if (guest === undefined || !this.#hasBegun) return;
    const { kind, signalsMs = [0] } = guest.language;
    if (kind === "framed") guest.send({ k: "interrupt", block: this.#number });
    for (const delayMs of signalsMs) {
      if (delayMs === 0) this.#signal(guest);
      // What the guest has said by then is heard first: a signal after the end is the next block's.
      else this.#later(delayMs, () => setImmediate(() => (this.#isDecided || this.#isWaiting ? undefined : this.#signal(guest))));
      for (const moreMs of remindMs) this.#later(delayMs + moreMs, this.#remind);
    }
  }

  #signal(guest: StartedGuest): void {
    this.#signalledMs = performance.now();
    guest.interrupt();
  }

  /** Does something then, unless the block is over. */
  #later(delayMs: number, work: () => void): void {
    setTimeout(() => (this.#isDecided ? undefined : work()), delayMs).unref();
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
  readonly begun: () => void;
  readonly decide: (end: GuestEnd) => void;
}

/** A shell says on descriptor 4 that a block is over, and marks the place in both streams: all three must have come. */
function runInShell(guest: StartedGuest, { ears, job, artifacts, hear, begun, decide }: ShellBlock): () => void {
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
    begun,
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
  return () => guest.write(`\n${finish}`);
}

/** A shell cannot take a text with the one character that ends a block. */
export function checkBlockText(job: GuestJob, kind: StartedGuest["language"]["kind"]): void {
  if (kind === "plain" && job.code.includes("\0")) throw new CallgateError("USAGE", "Cannot run the block: a shell's text holds no NUL character");
}
