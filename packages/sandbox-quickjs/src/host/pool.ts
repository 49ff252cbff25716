import type { GuestEnd } from "@callgate/contract";
import type { WasmModule } from "../engine/web-assembly.ts";
import { cpuEnd } from "../worker/guest-end.ts";
import type { HostMessage, StretchMessage } from "../worker/messages.ts";
import type { LiveGuest } from "./live-guest.ts";
import type { WorkerThread } from "./worker-thread.ts";
import { startWorkerThread } from "./worker-thread.ts";

export interface PoolOptions {
  readonly workers: number;
  readonly maxGuests: number;
  readonly module: WasmModule;
}

/** Threads and the guests in them. */
export interface Pool {
  add(guest: LiveGuest): void;
  post(guest: LiveGuest, message: (key: number) => HostMessage): void;
  cancel(guest: LiveGuest): void;
  close(): Promise<void>;
}

/** A guest on the CPU for longer makes its thread busy: others are not put there, and those that wait there move. */
const busyAfterMs = 100;
/** The engine asks many times a millisecond whether to go on; when it has not for so long, it will not soon. */
const silentAfterMs = 250;
/** How long a guest that was asked to stop may take to do so itself. */
const cancelPatienceMs = 200;
const watchEveryMs = 50;
const maxRestarts = 3;
/** Sets of tools whose layout a thread remembers. */
const maxKnownModules = 16;

interface PoolThread {
  readonly thread: WorkerThread;
  readonly guests: Map<number, LiveGuest>;
  /** Guests that were given up here while the thread was busy; their slots are free once the thread says so. */
  readonly abandoned: Map<number, number>;
  readonly knownModules: string[];
  seen: { stretch: number; sinceMs: number; heartbeat: number; heartbeatMs: number };
}

/** Whether one guest has been on the CPU for so long that others should not wait for it. */
function isBusy({ thread, seen }: PoolThread, atMs: number): boolean {
  const { running, stretch } = thread.glance();
  return running !== 0 && seen.stretch === stretch && atMs - seen.sinceMs > busyAfterMs;
}

export function createPool(options: PoolOptions): Pool {
  const threads = new Set<PoolThread>();
  const queue: LiveGuest[] = [];
  /** Guests whose thread is being ended right now. */
  const dying = new Set<Promise<void>>();
  let nextKey = 1;
  let watch: NodeJS.Timeout | undefined;
  let closed = false;

  const now = (): number => performance.now();
  const guestCount = (): number => {
    let count = 0;
    for (const { guests } of threads) count += guests.size;
    return count;
  };

  const open = (): PoolThread => {
    const pooled: PoolThread = {
      thread: startWorkerThread(options.module, {
        onStretch: (message) => take(pooled, message),
        onLost: (running, message) => lose(pooled, running, { kind: "crashed", message: `The sandbox's thread was lost: ${message}` }),
      }),
      guests: new Map(),
      abandoned: new Map(),
      knownModules: [],
      seen: { stretch: -1, sinceMs: 0, heartbeat: -1, heartbeatMs: 0 },
    };
    pooled.thread.hold(false);
    threads.add(pooled);
    return pooled;
  };

  /** The thread with the fewest guests that is not busy; a new one while there may be more. */
  const choose = (): PoolThread | undefined => {
    let best: PoolThread | undefined;
    const atMs = now();
    for (const pooled of threads) if (!isBusy(pooled, atMs) && (best === undefined || pooled.guests.size < best.guests.size)) best = pooled;
    if (best !== undefined && (best.guests.size === 0 || threads.size >= options.workers)) return best;
    // As many again may be opened while guests compute for long, so that short ones need not wait for them.
    return threads.size < options.workers || (best === undefined && threads.size < options.workers * 2) ? open() : best;
  };

  const place = (guest: LiveGuest): boolean => {
    const pooled = choose();
    const slot = pooled?.thread.takeSlot();
    if (pooled === undefined || slot === undefined) return false;
    if (pooled.guests.size === 0) pooled.thread.hold(true);
    for (const message of guest.incarnate(nextKey++, slot)) {
      guest.posted();
      pooled.thread.post(message.kind === "start" ? withModules(pooled, guest, message) : message);
    }
    pooled.guests.set(guest.key, guest);
    startWatch();
    return true;
  };

  const fill = (): void => {
    while (!closed && queue.length > 0 && guestCount() < options.maxGuests) {
      const guest = queue[0] as LiveGuest;
      if (!place(guest)) return;
      queue.shift();
    }
  };

  const detach = (pooled: PoolThread, guest: LiveGuest): void => {
    pooled.guests.delete(guest.key);
    if (pooled.guests.size === 0) pooled.thread.hold(false);
  };

  const take = (pooled: PoolThread, message: StretchMessage): void => {
    const guest = pooled.guests.get(message.key);
    if (guest === undefined) {
      const slot = pooled.abandoned.get(message.key);
      if (slot === undefined || message.end === undefined) return;
      pooled.abandoned.delete(message.key);
      pooled.thread.freeSlot(slot);
      return;
    }
    const end = guest.take(message);
    if (end === undefined) return;
    detach(pooled, guest);
    if (message.end === undefined) abandon(pooled, guest);
    else pooled.thread.freeSlot(guest.slot);
    guest.finish(guest.cancelledAtMs === undefined ? end : endOfCancelled(end));
    fill();
    retire(pooled);
  };

  /** Gives up a guest in a thread that cannot be asked now. It is told to stop, and never heard again. */
  const abandon = (pooled: PoolThread, guest: LiveGuest): void => {
    pooled.abandoned.set(guest.key, guest.slot);
    pooled.thread.signalCancel(guest.slot);
    pooled.thread.post({ kind: "cancel", key: guest.key });
  };

  const retire = (pooled: PoolThread): void => {
    if (pooled.guests.size > 0 || threads.size <= options.workers || !threads.delete(pooled)) return;
    track(pooled.thread.end());
  };

  const track = (ending: Promise<void>): void => {
    const tracked = ending.finally(() => dying.delete(tracked));
    dying.add(tracked);
  };

  /** Takes a thread out. The guest that was on its CPU ends; the others never notice: they run again elsewhere. */
  const lose = (pooled: PoolThread, running: number, end: GuestEnd): void => {
    if (!threads.delete(pooled)) return;
    const guests = [...pooled.guests.values()];
    pooled.guests.clear();
    const ending = pooled.thread.end().then(() => {
      for (const guest of guests) if (guest.key === running) guest.finish(end);
    });
    track(ending);
    const moving: LiveGuest[] = [];
    for (const guest of guests) {
      if (guest.key === running) continue;
      if (guest.cancelledAtMs !== undefined) guest.finish({ kind: "cancelled" });
      else if (guest.isRepeatable && guest.restarts < maxRestarts) moving.push(guest);
      else guest.finish({ kind: "crashed", message: "The thread of this program was lost to another program, and it holds too much to be run again" });
    }
    for (const guest of moving) guest.restarts += 1;
    queue.unshift(...moving);
    fill();
  };

  const watchOne = (pooled: PoolThread, atMs: number): void => {
    const { running, stretch, heartbeat } = pooled.thread.glance();
    const { seen } = pooled;
    if (seen.stretch !== stretch || running === 0) Object.assign(seen, { stretch, sinceMs: atMs });
    if (seen.heartbeat !== heartbeat || running === 0) Object.assign(seen, { heartbeat, heartbeatMs: atMs });
    const onCpuMs = atMs - seen.sinceMs;
    for (const guest of pooled.guests.values()) {
      if (guest.key === running || guest.cancelledAtMs === undefined || atMs - guest.cancelledAtMs < cancelPatienceMs) continue;
      detach(pooled, guest);
      abandon(pooled, guest);
      guest.finish({ kind: "cancelled" });
    }
    const suspect = pooled.guests.get(running);
    if (suspect === undefined) return;
    const isSilent = atMs - seen.heartbeatMs > silentAfterMs;
    if (suspect.cancelledAtMs !== undefined && atMs - suspect.cancelledAtMs > cancelPatienceMs) lose(pooled, running, { kind: "cancelled" });
    else if (isSilent && onCpuMs > suspect.job.limits.cpuMs - suspect.cpuMs + silentAfterMs) lose(pooled, running, cpuEnd(suspect.job.limits));
    else if (isBusy(pooled, atMs)) moveWaiting(pooled, running);
  };

  const moveWaiting = (pooled: PoolThread, running: number): void => {
    for (const guest of [...pooled.guests.values()]) {
      if (guest.key === running || !guest.isAwaited || !guest.isRepeatable || guest.cancelledAtMs !== undefined) continue;
      const { key, slot } = guest;
      if (!place(guest)) return;
      pooled.guests.delete(key);
      abandon(pooled, { ...guest, key, slot });
    }
  };

  const startWatch = (): void => {
    watch ??= setInterval(() => {
      const atMs = now();
      let live = queue.length;
      for (const pooled of [...threads]) {
        if (pooled.guests.size > 0) watchOne(pooled, atMs);
        live += pooled.guests.size;
      }
      fill();
      if (live > 0) return;
      clearInterval(watch);
      watch = undefined;
    }, watchEveryMs).unref();
  };

  open();
  return {
    add(guest) {
      queue.push(guest);
      fill();
      startWatch();
    },
    post(guest, message) {
      for (const pooled of threads) {
        if (pooled.guests.get(guest.key) !== guest) continue;
        guest.posted();
        pooled.thread.post(message(guest.key));
      }
    },
    cancel(guest) {
      guest.cancelledAtMs ??= now();
      const queued = queue.indexOf(guest);
      if (queued >= 0) {
        queue.splice(queued, 1);
        guest.finish({ kind: "cancelled" });
      }
      for (const pooled of threads) {
        if (pooled.guests.get(guest.key) !== guest) continue;
        pooled.thread.signalCancel(guest.slot);
        pooled.thread.post({ kind: "cancel", key: guest.key });
      }
    },
    async close() {
      closed = true;
      clearInterval(watch);
      for (const guest of queue.splice(0)) guest.finish({ kind: "cancelled" });
      const closing = [...threads].map(async (pooled) => {
        await pooled.thread.end();
        for (const guest of pooled.guests.values()) guest.finish({ kind: "cancelled" });
      });
      threads.clear();
      await Promise.all([...closing, ...dying]);
    },
  };
}

/** A program that ended by itself before the wish to stop reached it still ended as wished: its value is not awaited. */
function endOfCancelled(end: GuestEnd): GuestEnd {
  return end.kind === "crashed" ? end : { kind: "cancelled" };
}

/** The tools go to a thread once; it keeps the last few sets. */
function withModules(pooled: PoolThread, guest: LiveGuest, start: HostMessage & { kind: "start" }): HostMessage {
  const { modulesDigest, modules } = guest.job;
  const { knownModules } = pooled;
  const known = knownModules.indexOf(modulesDigest);
  if (known >= 0) {
    knownModules.push(...knownModules.splice(known, 1));
    return start;
  }
  knownModules.push(modulesDigest);
  const forget = knownModules.length > maxKnownModules ? knownModules.shift() : undefined;
  return { ...start, modulesJson: JSON.stringify(modules), ...(forget === undefined ? {} : { forget }) };
}
