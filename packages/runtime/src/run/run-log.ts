import type { Journal, JournalEntry, RunFinish, RunStart } from "@callgate/contract";

/**
 * A run's own part of the journal. Never throws: what cannot be written is kept for the next try and told once. Whether a
 * write of a tool may go on without a journal is the broker's to judge; a run of reads goes on.
 */
export interface RunLog {
  begin(start: RunStart): void;
  /** Written with the next flush. */
  add(entry: JournalEntry): void;
  /** Resolves once everything so far is written, or could not be. */
  flush(): Promise<void>;
  finish(finish: RunFinish): Promise<void>;
}

/** Beyond this the oldest entries of a journal that is gone are given up. */
const maxWaiting = 10_000;

export function createRunLog(journal: Journal, runId: string, onDegraded: (message: string) => void): RunLog {
  let waiting: JournalEntry[] = [];
  let begun: Promise<boolean> = Promise.resolve(true);
  let told = false;

  async function attempt(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      if (!told) onDegraded(error instanceof Error ? error.message : String(error));
      told = true;
      return false;
    }
  }

  async function flush(): Promise<void> {
    const entries = waiting;
    if (entries.length === 0) return;
    waiting = [];
    if (!(await attempt(() => journal.append(runId, entries, "lazy")))) waiting = [...entries, ...waiting].slice(-maxWaiting);
  }

  return {
    begin(start) {
      begun = attempt(() => journal.begin(start));
    },
    add(entry) {
      waiting.push(entry);
    },
    flush,
    async finish(finish) {
      // All asked for in one turn, so that they share a transaction.
      const flushed = flush();
      await Promise.all([begun, flushed, attempt(() => journal.finish(runId, finish))]);
    },
  };
}
