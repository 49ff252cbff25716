import type { Clock } from "@callgate/contract";

/** Where the journal's time comes from. */
export interface JournalTime {
  /** Null: the server's clock counts, so that the clocks of machines may differ. */
  given(): number | null;
}

export function journalTime(clock: Clock | undefined): JournalTime {
  return { given: () => (clock === undefined ? null : clock.now()) };
}
