import type { Durability, Journal, JournalEntry, RunLease } from "@callgate/contract";

/** The journal's part about one call. Entries wait for the next flush, so that a read costs one transaction. */
export interface CallRecord {
  add(entry: JournalEntry): void;
  /** Hands over what waits, for somebody else to write. */
  take(): readonly JournalEntry[];
  /** False when there was nothing to write. Throws what the journal throws; what could not be written waits for the next flush. */
  flush(durability: Durability): Promise<boolean>;
}

export function createCallRecord(journal: Pick<Journal, "append">, lease: RunLease): CallRecord {
  let waiting: JournalEntry[] = [];
  return {
    add(entry) {
      waiting.push(entry);
    },
    take() {
      const entries = waiting;
      waiting = [];
      return entries;
    },
    async flush(durability) {
      const entries = waiting;
      if (entries.length === 0) return false;
      waiting = [];
      try {
        await journal.append(lease, entries, durability);
        return true;
      } catch (error) {
        waiting = [...entries, ...waiting];
        throw error;
      }
    },
  };
}
