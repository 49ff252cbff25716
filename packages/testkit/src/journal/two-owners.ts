import type { Clock, Journal, RunLease } from "@callgate/contract";
import { sampleRun } from "./journal-samples.ts";
import type { JournalStore } from "./journal-store.ts";
import { pausedClock } from "./paused-clock.ts";
import type { PausedClock } from "./paused-clock.ts";

export const START_MS = 1_900_000_000_000;
export const LEASE_MS = 30_000;

/** How a suite gets a store and journals on it. All are closed after the test. */
export interface DurableSeams {
  readonly setUp: (clock?: Clock) => Promise<{ store: JournalStore; journal: Journal }>;
  readonly openAgain: (store: JournalStore, clock?: Clock, keyByte?: number) => Promise<Journal>;
}

/** Two users of one store whose time is set by hand, and a run of the first. */
export async function twoOwners({ setUp, openAgain }: DurableSeams): Promise<{ clock: PausedClock; store: JournalStore; first: Journal; second: Journal; lease: RunLease }> {
  const clock = pausedClock(START_MS);
  const { store, journal: first } = await setUp(clock);
  const second = await openAgain(store, clock);
  const lease = await first.begin(sampleRun("r1"), { leaseMs: LEASE_MS });
  return { clock, store, first, second, lease };
}
