import type { Clock, RunLease } from "@callgate/contract";
import { createHeartbeat } from "./owners.ts";
import { heartbeatMs } from "./process-identity.ts";

/** How long a run is ours without a word of ours, where nothing else was said. */
export const defaultLeaseMs = 30_000;

/** A lease and how long each renewal of it lasts. */
export interface HeldLease extends RunLease {
  readonly leaseMs: number;
}

/** The runs this process drives. While there are any, `beat` is called so often that no lease of them runs out. */
export interface HeldLeases {
  readonly all: () => readonly HeldLease[];
  readonly runIds: () => readonly string[];
  hold(lease: RunLease, leaseMs: number): void;
  /** Forgets a run, unless it is held under a later lease. */
  readonly release: (lease: RunLease) => void;
  /** The same, and tells whoever watches it: it is another's. */
  readonly lose: (lease: RunLease) => void;
  /** Calls `lost` once, until the returned function is called. */
  readonly watch: (lease: RunLease, lost: () => void) => () => void;
  /** No beat any more. */
  stop(): void;
}

export function createHeldLeases(clock: Clock, beat: () => Promise<void>): HeldLeases {
  const held = new Map<string, HeldLease>();
  const watchers = new Set<{ readonly lease: RunLease; readonly lost: () => void }>();
  let plannedMs = heartbeatMs;
  /** Two beats may be late or fail before a lease is lost. */
  const everyMs = (): number => {
    plannedMs = Math.min(heartbeatMs, ...[...held.values()].map(({ leaseMs }) => Math.max(1, leaseMs / 3)));
    return plannedMs;
  };
  const heartbeat = createHeartbeat(clock, everyMs, beat);

  function release({ runId, epoch }: RunLease): void {
    if ((held.get(runId)?.epoch ?? Infinity) <= epoch) held.delete(runId);
    if (held.size === 0) heartbeat.stop();
  }

  return {
    all: () => [...held.values()],
    runIds: () => [...held.keys()],
    hold(lease, leaseMs) {
      held.set(lease.runId, { ...lease, leaseMs });
      if (leaseMs / 3 < plannedMs) heartbeat.stop();
      heartbeat.start();
    },
    release,
    lose(lease) {
      release(lease);
      for (const watcher of [...watchers].filter((one) => one.lease.runId === lease.runId && one.lease.epoch <= lease.epoch)) {
        watchers.delete(watcher);
        watcher.lost();
      }
    },
    watch(lease, lost) {
      const watcher = { lease, lost };
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    stop: () => heartbeat.stop(),
  };
}
