import { CallgateError } from "@callgate/contract";
import type { RunScope } from "./run-scope.ts";

/**
 * Keeps a run ours while it is driven here, until the returned function is called. A run that another owner has is
 * stopped at once. A journal that cannot be reached is tried again: without it no write of a tool is performed anyway.
 */
export function keepLease({ seams, lease, fence, runId, principal }: RunScope): () => void {
  const { clock, journal, leaseMs } = seams;
  let timer: { cancel(): void } | undefined;
  let over = false;

  function next(): void {
    if (!over) timer = clock.schedule(leaseMs / 3, () => void renew());
  }

  async function renew(): Promise<void> {
    try {
      await journal.renew(lease, leaseMs);
    } catch (fault) {
      if (!over && CallgateError.is(fault) && fault.code === "RUN_FENCED") fence.raise();
    }
    next();
  }

  const fenced = (): void => seams.emit({ kind: "run-fenced", atMs: clock.now(), runId, principal, epoch: lease.epoch });
  fence.signal.addEventListener("abort", fenced, { once: true });
  next();
  return () => {
    over = true;
    timer?.cancel();
    fence.signal.removeEventListener("abort", fenced);
  };
}
