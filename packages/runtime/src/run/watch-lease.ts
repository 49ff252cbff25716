import type { RunScope } from "./run-scope.ts";

/**
 * Stops a run that turns out to be another owner's, until the returned function is called. The journal keeps it ours; one
 * that cannot be reached tries again: without it no write of a tool is performed anyway.
 */
export function watchLease({ seams, lease, fence, runId, principal }: RunScope): () => void {
  const fenced = (): void => seams.emit({ kind: "run-fenced", atMs: seams.clock.now(), runId, principal, epoch: lease.epoch });
  fence.signal.addEventListener("abort", fenced, { once: true });
  const unwatch = seams.journal.watch(lease, () => fence.raise());
  return () => {
    unwatch();
    fence.signal.removeEventListener("abort", fenced);
  };
}
