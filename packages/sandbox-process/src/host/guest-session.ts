import { CallgateError } from "@callgate/contract";
import type { GuestBlock, GuestEnd, GuestHost, GuestJob, GuestSession, SessionLoss, SessionOptions, SessionStatus } from "@callgate/contract";
import type { GuestLanguage } from "../language/guest-language.ts";
import { shellSessionStart } from "../language/plain-boot.ts";
import { unstartedEnd } from "./guest-hearing.ts";
import type { ArtifactBounds } from "./artifact-bounds.ts";
import { checkBlockText, createSessionBlock } from "./session-block.ts";
import type { SessionBlock } from "./session-block.ts";
import type { StartedGuest } from "./started-guest.ts";

export interface GuestSessionOptions {
  readonly session: SessionOptions;
  readonly language: GuestLanguage;
  /** Starts a guest of the session. Rejects when none can be started. */
  readonly start: () => Promise<StartedGuest>;
  readonly artifacts: ArtifactBounds;
  /** Called once, when the session has ended. */
  readonly onEnd: () => void;
}

const gone = "Variables, working directory and files of the session are gone";

/** State from block to block, in one guest that lives as long as it can. */
export function createGuestSession(options: GuestSessionOptions): GuestSession {
  const session = new Session(options);
  return { start: (job, host) => session.start(job, host), status: () => session.status(), restart: () => session.restart(), close: () => session.close() };
}

class Session implements GuestSession {
  readonly #options: GuestSessionOptions;
  readonly #openedMs = performance.now();
  readonly #queue: SessionBlock[] = [];
  readonly #total: NodeJS.Timeout;
  #idle: NodeJS.Timeout | undefined;
  #usedMs = this.#openedMs;
  #guest: StartedGuest | undefined;
  #current: SessionBlock | undefined;
  #phase: SessionStatus["phase"] = "idle";
  #generation = 1;
  #blocks = 0;
  /** Calls of this generation so far: its guest goes on counting. */
  #calls = 0;
  /** Blocks of this generation so far. */
  #own = 0;
  #loss: SessionLoss | undefined;

  constructor(options: GuestSessionOptions) {
    this.#options = options;
    const { totalMs } = options.session;
    this.#total = setTimeout(() => this.#end({ reason: "total", message: `The session was open for ${totalMs} ms, its bound. ${gone}` }), totalMs);
    this.#total.unref();
    this.#restIdle();
  }

  start(job: GuestJob, host: GuestHost): GuestBlock {
    this.#mustBeOpen();
    const { language, artifacts, session } = this.#options;
    checkBlockText(job, language.kind);
    const block = createSessionBlock({ job, host, artifacts, memoryMiB: session.memoryMiB, leave: (left) => this.#leave(left) });
    this.#queue.push(block);
    this.#work().catch(() => undefined);
    return block.told;
  }

  status(): SessionStatus {
    const { sessionId, language } = this.#options.session;
    const nowMs = performance.now();
    const idleForMs = this.#phase === "busy" ? 0 : nowMs - this.#usedMs;
    return { sessionId, language, phase: this.#phase, generation: this.#generation, blocks: this.#blocks, queued: this.#queue.length, ageMs: nowMs - this.#openedMs, idleForMs, ...(this.#loss === undefined ? {} : { loss: this.#loss }) };
  }

  async restart(): Promise<void> {
    this.#mustBeOpen();
    await this.#lose({ reason: "restarted", message: `The session was restarted. ${gone}` });
    if (this.#phase === "idle") this.#restIdle();
  }

  async close(): Promise<void> {
    const last = this.#guest;
    this.#end({ reason: "closed", message: `The session was closed. ${gone}` });
    await last?.gone;
  }

  #mustBeOpen(): void {
    if (this.#phase === "ended") throw new CallgateError("SESSION_ENDED", `The session ${this.#options.session.sessionId} has ended: ${this.#loss?.message ?? gone}`);
  }

  #restIdle(): void {
    const { idleMs } = this.#options.session;
    this.#usedMs = performance.now();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#end({ reason: "idle", message: `No block ran for ${idleMs} ms, the session's bound. ${gone}` }), idleMs);
    this.#idle.unref();
  }

  /** The guest is over: what waits was written for a state that is gone. Resolves when nothing of it lives. */
  async #lose(why: SessionLoss): Promise<void> {
    const lost = this.#guest;
    this.#guest = undefined;
    this.#calls = 0;
    this.#own = 0;
    this.#loss = why;
    if (this.#phase !== "ended") this.#generation += 1;
    for (const waiting of this.#queue.splice(0)) waiting.settle({ kind: "cancelled" }, false);
    lost?.kill();
    await lost?.gone;
  }

  #end(why: SessionLoss): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
    this.#lose(why).catch(() => undefined);
    this.#options.onEnd();
  }

  #leave(block: SessionBlock): void {
    const at = this.#queue.indexOf(block);
    if (at >= 0) this.#queue.splice(at, 1);
    block.settle({ kind: "cancelled" }, this.#guest !== undefined);
  }

  async #work(): Promise<void> {
    if (this.#phase !== "idle") return;
    this.#phase = "busy";
    clearTimeout(this.#idle);
    for (this.#current = this.#queue.shift(); this.#current !== undefined; this.#current = this.#queue.shift()) await this.#runBlock(this.#current);
    if (this.#isEnded()) return;
    this.#phase = "idle";
    this.#restIdle();
  }

  /** A method, because a block may have ended the session meanwhile, which the compiler cannot know. */
  #isEnded(): boolean {
    return this.#phase === "ended";
  }

  async #runBlock(block: SessionBlock): Promise<void> {
    let live: StartedGuest;
    try {
      live = this.#guest ?? (await this.#startGuest());
    } catch (fault) {
      return block.settle(unstartedEnd(fault), false);
    }
    if (this.#isEnded()) {
      live.kill();
      await live.gone;
      return block.settle({ kind: "cancelled" }, false);
    }
    this.#blocks += 1;
    this.#own += 1;
    const { end, isLost, calls } = await block.run(live, { block: this.#own, firstSeq: this.#calls });
    this.#calls += calls;
    if (isLost && this.#guest === live) await this.#lose(lossOf(end));
    const isKept = this.#guest === live;
    if (!isKept) await live.gone;
    block.settle(end, isKept);
  }

  async #startGuest(): Promise<StartedGuest> {
    const started = await this.#options.start();
    this.#guest = started;
    const problem = await started.ready;
    if (problem !== undefined) {
      this.#guest = undefined;
      started.kill();
      throw new CallgateError("DRIVER_FAILED", problem.message, { details: problem.missingProgram === undefined ? {} : { missingProgram: problem.missingProgram } });
    }
    if (this.#options.language.kind === "plain") started.write(shellSessionStart);
    const leave = async (): Promise<void> => {
      if (this.#guest === started && this.#current === undefined) await this.#lose({ reason: "exited", message: `The interpreter of the session ended by itself. ${gone}` });
    };
    started.gone.then(leave, () => undefined).catch(() => undefined);
    return started;
  }
}

function lossOf(end: GuestEnd): SessionLoss {
  switch (end.kind) {
    case "limit":
      return { reason: "limit", message: `A block was ended at its limit ${end.limit}. ${gone}` };
    case "cancelled":
      return { reason: "cancelled", message: `A block was cancelled and did not stop by itself. ${gone}` };
    case "crashed":
      return { reason: "crashed", message: `A block ended the interpreter: ${end.message}. ${gone}` };
    case "returned":
    case "threw":
    case "stalled":
      return { reason: "exited", message: `A block ended the interpreter. ${gone}` };
  }
}
