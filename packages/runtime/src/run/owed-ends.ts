import { CallgateError } from "@callgate/contract";
import type { Clock } from "@callgate/contract";

/**
 * Ends of runs that have been answered and could not be written. Until one is, another process may go on with its run from the
 * record, and do what its caller was told had not happened: so each is tried again until it is there.
 */
export interface OwedEnds {
  /** @param write writes the end; rejects as long as it cannot */
  owe(runId: string, write: () => Promise<void>): void;
  /** Tries each once more and stops: the gate is closed. Never rejects. */
  close(): Promise<void>;
}

const everyMs = 2_000;

export function createOwedEnds(clock: Pick<Clock, "schedule">): OwedEnds {
  const owed = new Map<string, () => Promise<void>>();
  let timer: { cancel(): void } | undefined;
  let isClosed = false;

  async function tryAll(): Promise<void> {
    for (const [runId, write] of owed) {
      try {
        await write();
        owed.delete(runId);
      } catch (fault) {
        // Another owner has it, or it was never begun: nobody waits for this end.
        if (CallgateError.is(fault) && (fault.code === "RUN_FENCED" || fault.code === "RUN_NOT_FOUND")) owed.delete(runId);
      }
    }
  }

  function later(): void {
    if (isClosed || owed.size === 0 || timer !== undefined) return;
    timer = clock.schedule(everyMs, () => {
      timer = undefined;
      void tryAll().then(later, later);
    });
  }

  return {
    owe(runId, write) {
      owed.set(runId, write);
      later();
    },
    async close() {
      isClosed = true;
      timer?.cancel();
      await tryAll();
    },
  };
}
