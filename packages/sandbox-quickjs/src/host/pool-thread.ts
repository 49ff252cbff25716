import type { WasmModule } from "../engine/web-assembly.ts";
import type { HostMessage } from "../worker/messages.ts";
import type { LiveGuest } from "./live-guest.ts";
import type { WorkerEvents, WorkerThread } from "./worker-thread.ts";
import { startWorkerThread } from "./worker-thread.ts";

/** A thread and the guests in it. */
export interface PoolThread {
  readonly thread: WorkerThread;
  readonly guests: Map<number, LiveGuest>;
  /** Guests that were given up here while the thread was busy: key → slot, free once the thread says so. */
  readonly abandoned: Map<number, number>;
  /** Digests of the sets of tools it has, oldest use first. */
  readonly knownModules: string[];
  /** What the watch saw last, and since when. */
  readonly seen: { stretch: number; stretchMs: number; heartbeat: number; heartbeatMs: number };
}

/** A guest on the CPU for longer makes its thread busy: others are not put there, and those that wait there move. */
const busyAfterMs = 100;
/** Sets of tools whose layout a thread remembers. */
const maxKnownModules = 16;

export function openPoolThread(module: WasmModule, events: WorkerEvents): PoolThread {
  const thread = startWorkerThread(module, events);
  thread.hold(false);
  return { thread, guests: new Map(), abandoned: new Map(), knownModules: [], seen: { stretch: -1, stretchMs: 0, heartbeat: -1, heartbeatMs: 0 } };
}

/** Whether one guest has been on the CPU for so long that others should not wait for it. */
export function isBusy({ thread, seen }: PoolThread, atMs: number): boolean {
  const { running, stretch } = thread.glance();
  return running !== 0 && seen.stretch === stretch && atMs - seen.stretchMs > busyAfterMs;
}

/** Puts a new incarnation of the guest here. False when every slot is taken. */
export function enter(pooled: PoolThread, guest: LiveGuest, key: number): boolean {
  const slot = pooled.thread.takeSlot();
  if (slot === undefined) return false;
  if (pooled.guests.size === 0) pooled.thread.hold(true);
  for (const message of guest.incarnate(key, slot)) {
    guest.posted();
    pooled.thread.post(message.kind === "start" ? withModules(pooled, guest, message) : message);
  }
  pooled.guests.set(key, guest);
  return true;
}

export function leave(pooled: PoolThread, key: number): void {
  pooled.guests.delete(key);
  if (pooled.guests.size === 0) pooled.thread.hold(false);
}

/** Gives up an incarnation in a thread that cannot be asked now. It is told to stop, and never heard again. */
export function abandon(pooled: PoolThread, key: number, slot: number): void {
  leave(pooled, key);
  pooled.abandoned.set(key, slot);
  pooled.thread.signalCancel(slot);
  pooled.thread.post({ kind: "cancel", key });
}

/** The tools go to a thread once; it keeps the last few sets. */
function withModules({ knownModules }: PoolThread, guest: LiveGuest, start: HostMessage & { kind: "start" }): HostMessage {
  const { modulesDigest, modules } = guest.job;
  const known = knownModules.indexOf(modulesDigest);
  if (known >= 0) {
    knownModules.push(...knownModules.splice(known, 1));
    return start;
  }
  knownModules.push(modulesDigest);
  const forget = knownModules.length > maxKnownModules ? knownModules.shift() : undefined;
  return { ...start, modulesJson: JSON.stringify(modules), ...(forget === undefined ? {} : { forget }) };
}
