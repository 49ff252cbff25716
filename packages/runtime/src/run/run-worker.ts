import type { ClaimedRun, Journal, Queue, RunHint, RunWorker } from "@callgate/contract";

export interface RunWorkerOptions {
  readonly queue: Queue;
  readonly journal: Journal;
  readonly leaseMs: number;
  readonly concurrency: number;
  readonly tenant: string | undefined;
  /** Drives a claimed run until it ends, waits, or is to be left. */
  readonly drive: (claimed: ClaimedRun, leave: AbortSignal) => Promise<unknown>;
  /** Hears of a run that could not go on, or a journal that could not be read. */
  readonly failed: (fault: unknown) => void;
}

/** Goes on with one run after the other: those that are due, and those whose process was lost. */
export function startRunWorker({ queue, journal, leaseMs, concurrency, tenant, drive, failed }: RunWorkerOptions): RunWorker {
  const leaving = new AbortController();

  async function claim(hint: RunHint | undefined): Promise<ClaimedRun | undefined> {
    if (hint === undefined) return await journal.claim({ leaseMs, ...(tenant === undefined ? {} : { tenant }) });
    if (tenant !== undefined && tenant !== hint.tenant) return undefined;
    // A hint names a run to look at; whether it can go on is the journal's to say.
    const run = await journal.readRun(hint.tenant, hint.runId);
    return run?.status === "suspended" ? await journal.claim({ leaseMs, tenant: hint.tenant }) : undefined;
  }

  async function handle(hint: RunHint | undefined, more: () => void): Promise<void> {
    try {
      for (let claimed = await claim(hint); claimed !== undefined; claimed = leaving.signal.aborted ? undefined : await claim(undefined)) {
        more();
        await drive(claimed, leaving.signal).catch(failed);
      }
    } catch (fault) {
      failed(fault);
    }
  }

  const working = queue.work(handle, { concurrency });
  return {
    async stop() {
      leaving.abort(new DOMException("The worker was stopped", "AbortError"));
      await working.stop();
    },
  };
}
