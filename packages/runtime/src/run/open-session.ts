import { CallgateError } from "@callgate/contract";
import type { GuestBlock, GuestSession, Principal, RunResult, SandboxDriver, SessionBlock, SessionStatus, SessionView } from "@callgate/contract";
import type { BlockOfSession, RunRequest } from "./run-request.ts";
import type { Runner } from "./runner.ts";

/** One session of a gate: its guest, and the line of blocks before it. */
export interface OpenSession {
  readonly principal: Principal;
  readonly view: SessionView;
  /** Runs a block when those before it are over. Errors: SESSION_ENDED. */
  run(request: RunRequest): Promise<RunResult>;
  interrupt(): boolean;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenSessionParts {
  readonly guest: GuestSession;
  readonly driver: SandboxDriver;
  readonly principal: Principal;
  readonly openedAtMs: number;
  readonly bounds: Pick<SessionView, "memoryMiB" | "idleMs" | "totalMs">;
  readonly runner: Pick<Runner, "run" | "dropBlock">;
}

/** Beyond this the names of a session are no longer gathered: what is then missed, the check says of a block. */
const maxNames = 50_000;
const word = /[\p{L}_$][\p{L}\p{N}_$]*/gu;

export function createOpenSession({ guest, driver, principal, openedAtMs, bounds, runner }: OpenSessionParts): OpenSession {
  const names = createNames();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let current: GuestBlock | undefined;

  function blockOf(request: RunRequest): BlockOfSession {
    const { sessionId, generation, blocks } = guest.status();
    const place = { sessionId, generation, block: blocks + 1 };
    let started: GuestBlock | undefined;
    const outcome = async (): Promise<SessionBlock> => {
      const stateKept = started === undefined || (await started.stateKept);
      const { loss } = guest.status();
      return { ...place, stateKept, ...(stateKept || loss === undefined ? {} : { loss }) };
    };
    const start: SandboxDriver["start"] = (job, host) => {
      names.add(generation, request.program);
      const block = (current = started = guest.start(job, host));
      const leave = (): void => void (current = current === block ? undefined : current);
      block.ended.then(leave, leave);
      return block;
    };
    return { place, driver: { ...described(driver), start, close: () => Promise.resolve() }, known: names.of(generation), outcome };
  }

  async function runNow(request: RunRequest, generation: number): Promise<RunResult> {
    const session = blockOf(request);
    const status = guest.status();
    if (status.phase === "ended") throw endedError(status);
    const block = { ...request, session };
    const result = status.generation === generation ? await runner.run(block) : await runner.dropBlock(block, `The block did not run: the state it was written for is gone. ${status.loss?.message ?? ""}`.trim());
    return { ...result, session: await session.outcome() };
  }

  return {
    principal,
    get view() {
      const status = guest.status();
      return { ...status, queued: status.queued + waiting, principal, driver: driver.name, openedAtMs, ...bounds };
    },
    async run(request) {
      const status = guest.status();
      if (status.phase === "ended") throw endedError(status);
      const before = last;
      const over = Promise.withResolvers<void>();
      last = before.then(() => over.promise);
      waiting += 1;
      await turnOrAbort(before, request.signal);
      waiting -= 1;
      try {
        return await runNow(request, status.generation);
      } finally {
        over.resolve();
      }
    },
    interrupt: () => (current?.interrupt(), current !== undefined),
    restart: () => guest.restart(),
    close: () => guest.close(),
  };
}

/** Words of the blocks of one generation: what they may have defined. */
function createNames(): { add(generation: number, text: string): void; of(generation: number): readonly string[] } {
  let names = new Set<string>();
  let since = 1;
  const current = (generation: number): Set<string> => {
    if (since !== generation) names = new Set();
    since = generation;
    return names;
  };
  return {
    add(generation, text) {
      const known = current(generation);
      for (const [name] of text.matchAll(word)) if (known.size < maxNames) known.add(name);
    },
    of: (generation) => [...current(generation)],
  };
}

/** What ended, and what to do: for everyone who comes too late. */
export function endedError({ sessionId, loss }: SessionStatus): CallgateError {
  return new CallgateError("SESSION_ENDED", `The session ${sessionId} has ended: ${loss?.message ?? "its state is gone"}. Open a new one`, { details: { sessionId, ...(loss === undefined ? {} : { reason: loss.reason }) } });
}

function described({ name, languages, artifacts, limits }: SandboxDriver): Pick<SandboxDriver, "name" | "languages" | "artifacts" | "limits" | "replayable" | "sessions"> {
  return { name, languages, artifacts, limits, replayable: false, sessions: true };
}

/** A block that is cancelled while it waits is told at once. */
async function turnOrAbort(turn: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const leave = (): void => aborted.resolve();
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  await Promise.race([turn, aborted.promise]);
  signal.removeEventListener("abort", leave);
}
