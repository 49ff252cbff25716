import { CallgateError } from "@callgate/contract";
import type { Durability, Journal, JournalEntry, RunFinish, RunLease, RunStart, Suspension } from "@callgate/contract";
import type { JournalHealth } from "./journal-health.ts";
import type { OwedEnds } from "./owed-ends.ts";

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
   *
   * False: the end is not on record, and is tried again until it is.
   */
  finish(finish: RunFinish, options?: { readonly onlyRead?: boolean }): Promise<boolean>;
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
  readonly owedEnds: Pick<OwedEnds, "owe">;
}

/** @param lease under which everything is written; a run that begins has its `firstLease` */
export function createRunLog({ journal, journalHealth, owedEnds }: RunLogSeams, lease: RunLease, hearing: RunLogHearing): RunLog {
  const { follow, followed } = createFollowing();
  let isAnswered = false;
  const attempt = createAttempt(hearing, (message) => {
    journalHealth.isSound = false;
    hearing.degraded(message, isAnswered);
  });
  const written = createEntries({ follow, append: (entries, durability) => attempt(() => journal.append(lease, entries, durability)) });

  /** What was kept for the next try comes first: an end without it would hide what happened. */
  async function finishAgain(finish: RunFinish): Promise<void> {
    written.write("lazy");
    await followed();
    if (!written.isEmpty) throw new CallgateError("JOURNAL_UNAVAILABLE", "The journal still takes nothing");
    await journal.finish(lease, finish, "full");
  }

  return {
    begin(start, options) {
      follow(attempt(() => journal.begin(start, options)));
    },
    add: written.add,
    gather: written.gather,
    flush: () => written.write("later"),
    follow,
    async suspend(suspension) {
      written.end();
      written.write("lazy");
      const suspended = attempt(() => journal.suspend(lease, suspension));
      follow(suspended);
      await followed();
      return await suspended;
    },
    async settle() {
      written.write("lazy");
      await followed();
    },
    async finish(finish, { onlyRead = false } = {}) {
      written.end();
      isAnswered = onlyRead && journalHealth.isSound;
      const durability = isAnswered ? "later" : "lazy";
      // All asked for in one turn, so that they share a transaction.
      written.write(durability);
      const ended = attempt(() => journal.finish(lease, finish, durability));
      follow(ended);
      if (isAnswered) return true;
      await followed();
      const isRecorded = await ended;
      journalHealth.isSound = isRecorded;
      if (!isRecorded) owedEnds.owe(lease.runId, () => finishAgain(finish));
      return isRecorded;
    },
  };
}

interface Entries extends Pick<RunLog, "add" | "gather"> {
  /** Asks for what waits to be written. */
  write(durability: Durability): void;
  /** What is gathered from now on is written at once. */
  end(): void;
  /** Nothing waits. */
  readonly isEmpty: boolean;
}

interface EntriesSeams {
  readonly follow: (recording: Promise<unknown>) => void;
  /** Whether that went well. Never rejects. */
  readonly append: (entries: readonly JournalEntry[], durability: Durability) => Promise<boolean>;
}

/** The entries of a run that wait to be written; those that could not be wait for the next try. */
function createEntries({ follow, append }: EntriesSeams): Entries {
  let waiting: JournalEntry[] = [];
  let [isFlushing, isOver] = [false, false];

  async function tryToWrite(entries: readonly JournalEntry[], durability: Durability): Promise<void> {
    if (!(await append(entries, durability))) waiting = [...entries, ...waiting].slice(-maxWaiting);
  }

  function write(durability: Durability): void {
    if (waiting.length === 0) return;
    const entries = waiting;
    waiting = [];
    follow(tryToWrite(entries, durability));
  }

  function flushSoon(): void {
    isFlushing = true;
    // The pump's round is in the next turn; what it delivers goes along.
    setImmediate(() => setImmediate(() => {
      isFlushing = false;
      write("later");
    }));
  }

  return {
    write,
    add: (entry) => void waiting.push(entry),
    gather(entries) {
      waiting.push(...entries);
      if (isOver) write("later");
      else if (!isFlushing) flushSoon();
    },
    end() {
      isOver = true;
    },
    get isEmpty() {
      return waiting.length === 0;
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
