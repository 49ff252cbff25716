import { CallgateError } from "@callgate/contract";
import type { Durability, Journal, JournalEntry, RunFinish, RunLease, RunStart, Suspension } from "@callgate/contract";
import type { JournalHealth } from "./journal-health.ts";

/**
 * A run's own part of the journal. Never throws: what cannot be written is kept for the next try and told once. Whether a
 * write of a tool may go on without a journal is the broker's to judge; a run of reads goes on.
 */
export interface RunLog {
  begin(start: RunStart, options?: { readonly leaseMs?: number }): void;
  /** Written with the next flush. */
  add(entry: JournalEntry): void;
  /** The same, at the latest two turns of the event loop from now: what was ready comes before what it brings about. */
  readonly gather: (entries: readonly JournalEntry[]) => void;
  /** Asks for everything so far to be written. */
  flush(): void;
  /** Something of this run that others are writing. Must not reject. */
  follow(recording: Promise<void>): void;
  /** Gives the run up until what it waits for has come. False when that could not be written: its lease will end. */
  suspend(suspension: Suspension): Promise<boolean>;
  /**
   * Resolves once everything of the run is written, or could not be. With `onlyRead` it does not wait for that while the
   * journal is sound: nothing happened that a lost record would hide (docs/decisions/0022-ends-of-reads.md).
   */
  finish(finish: RunFinish, options?: { readonly onlyRead?: boolean }): Promise<void>;
  /** The same without an end. */
  settle(): Promise<void>;
}

/** Beyond this the oldest entries of a journal that is gone are given up. */
const maxWaiting = 10_000;

/** The lease of a run that is about to begin: known before the journal has answered, so that nothing waits for that. */
export function firstLease(runId: string): RunLease {
  return { runId, epoch: 1 };
}

export interface RunLogHearing {
  /** The journal could not be written. Told once. `isLate`: the run has been answered, so it cannot be told there any more. */
  readonly degraded: (message: string, isLate: boolean) => void;
  /** Another owner has the run. */
  readonly fenced?: () => void;
}

export interface RunLogSeams {
  readonly journal: Journal;
  readonly journalHealth: JournalHealth;
}

/** @param lease under which everything is written; a run that begins has its `firstLease` */
export function createRunLog({ journal, journalHealth }: RunLogSeams, lease: RunLease, hearing: RunLogHearing): RunLog {
  let waiting: JournalEntry[] = [];
  const { follow, followed } = createFollowing();
  let [isFlushing, isOver, isAnswered] = [false, false, false];
  const attempt = createAttempt(hearing, (message) => {
    journalHealth.isSound = false;
    hearing.degraded(message, isAnswered);
  });

  async function write(durability: Durability): Promise<void> {
    const entries = waiting;
    if (entries.length === 0) return;
    waiting = [];
    if (!(await attempt(() => journal.append(lease, entries, durability)))) waiting = [...entries, ...waiting].slice(-maxWaiting);
  }

  const flush = (): void => {
    if (waiting.length > 0) follow(write("later"));
  };

  function flushSoon(): void {
    isFlushing = true;
    // The pump's round is in the next turn; what it delivers goes along.
    setImmediate(() => setImmediate(() => {
      isFlushing = false;
      flush();
    }));
  }

  return {
    begin(start, options) {
      follow(attempt(() => journal.begin(start, options)));
    },
    add(entry) {
      waiting.push(entry);
    },
    gather(entries) {
      waiting.push(...entries);
      if (isOver) flush();
      else if (!isFlushing) flushSoon();
    },
    flush,
    follow,
    async suspend(suspension) {
      isOver = true;
      follow(write("lazy"));
      const suspended = attempt(() => journal.suspend(lease, suspension));
      follow(suspended);
      await followed();
      return await suspended;
    },
    async settle() {
      follow(write("lazy"));
      await followed();
    },
    async finish(finish, { onlyRead = false } = {}) {
      isOver = true;
      isAnswered = onlyRead && journalHealth.isSound;
      const durability = isAnswered ? "later" : "lazy";
      // All asked for in one turn, so that they share a transaction.
      follow(write(durability));
      const ended = attempt(() => journal.finish(lease, finish, durability));
      follow(ended);
      if (isAnswered) return;
      await followed();
      journalHealth.isSound = await ended;
    },
  };
}

/** Tries to write; whether that went well. The first fault is told. */
function createAttempt({ fenced }: RunLogHearing, degraded: (message: string) => void): (write: () => Promise<unknown>) => Promise<boolean> {
  let told = false;
  return async (write) => {
    try {
      await write();
      return true;
    } catch (error) {
      if (CallgateError.is(error) && error.code === "RUN_FENCED") fenced?.();
      else if (!told) degraded(error instanceof Error ? error.message : String(error));
      told = true;
      return false;
    }
  };
}

/** What is being written. Nothing of it may reject. */
function createFollowing(): { readonly follow: (recording: Promise<unknown>) => void; readonly followed: () => Promise<unknown> } {
  const recordings = new Set<Promise<unknown>>();
  return {
    follow(recording) {
      recordings.add(recording);
      recording.finally(() => recordings.delete(recording)).catch(() => undefined); // It never rejects.
    },
    followed: () => Promise.all(recordings),
  };
}
