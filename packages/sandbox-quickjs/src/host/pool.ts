// It is one thing: which guest is in which thread. What a thread is, and when one needs attention, are beside it.
import type { GuestEnd } from "@callgate/contract";
import type { WasmModule } from "../engine/web-assembly.ts";
import type { HostMessage, StretchMessage } from "../worker/messages.ts";
import type { LiveGuest } from "./live-guest.ts";
import type { PoolThread } from "./pool-thread.ts";
import { abandon, enter, isBusy, leave, openPoolThread } from "./pool-thread.ts";
import { judge } from "./watch.ts";

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

const watchEveryMs = 50;
/** A guest that lost its thread so often may be what loses it. */
const maxRestarts = 3;

interface PoolState {
  readonly options: PoolOptions;
  readonly threads: Set<PoolThread>;
  readonly queue: LiveGuest[];
  /** Threads that are being ended. */
  readonly dying: Set<Promise<void>>;
  nextKey: number;
  watch: NodeJS.Timeout | undefined;
  isClosed: boolean;
}

export function createPool(options: PoolOptions): Pool {
  const state: PoolState = { options, threads: new Set(), queue: [], dying: new Set(), nextKey: 1, watch: undefined, isClosed: false };
  open(state);
  return {
    add(guest) {
      state.queue.push(guest);
      fill(state);
      startWatch(state);
    },
    post(guest, message) {
      const pooled = threadOf(state, guest);
      if (pooled === undefined) return;
      guest.posted();
      pooled.thread.post(message(guest.key));
    },
    cancel: (guest) => cancel(state, guest),
    close: () => close(state),
  };
}

function threadOf({ threads }: PoolState, guest: LiveGuest): PoolThread | undefined {
  for (const pooled of threads) if (pooled.guests.get(guest.key) === guest) return pooled;
  return undefined;
}

function open(state: PoolState): PoolThread {
  const pooled: PoolThread = openPoolThread(state.options.module, {
    onStretch: (message) => take(state, pooled, message),
    onLost: (running, message) => lose(state, pooled, { running, end: { kind: "crashed", message: `The sandbox's thread was lost: ${message}` } }),
  });
  state.threads.add(pooled);
  return pooled;
}

/** The thread with the fewest guests that is not busy; a new one while there may be more. */
function choose(state: PoolState): PoolThread | undefined {
  const { threads, options } = state;
  const atMs = performance.now();
  let best: PoolThread | undefined;
  for (const pooled of threads) if (!isBusy(pooled, atMs) && (best === undefined || pooled.guests.size < best.guests.size)) best = pooled;
  if (best !== undefined && (best.guests.size === 0 || threads.size >= options.workers)) return best;
  // As many again may be opened while guests compute for long, so that short ones need not wait for them.
  return threads.size < options.workers || (best === undefined && threads.size < options.workers * 2) ? open(state) : best;
}

function place(state: PoolState, guest: LiveGuest): boolean {
  const pooled = choose(state);
  return pooled !== undefined && enter(pooled, guest, state.nextKey++);
}

/** Starts what waits, as far as there is room. */
function fill(state: PoolState): void {
  const { queue, threads, options } = state;
  let live = 0;
  for (const { guests } of threads) live += guests.size;
  for (; !state.isClosed && live < options.maxGuests; live++) {
    const guest = queue[0];
    if (guest === undefined || !place(state, guest)) return;
    queue.shift();
  }
}

function take(state: PoolState, pooled: PoolThread, message: StretchMessage): void {
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
  if (message.end === undefined) abandon(pooled, guest.key, guest.slot);
  else {
    leave(pooled, guest.key);
    pooled.thread.freeSlot(guest.slot);
  }
  // Whoever asked for the end does not want the value that came just before it.
  guest.finish(guest.cancelledAtMs === undefined || end.kind === "crashed" ? end : { kind: "cancelled" });
  fill(state);
}

/** Ends idle threads beyond the pool's size, once none is busy: until then the next short guest would need a new one. */
function retireExtra(state: PoolState, atMs: number): void {
  const { threads, options } = state;
  for (const pooled of threads) if (isBusy(pooled, atMs)) return;
  for (const pooled of threads) {
    if (threads.size <= options.workers) return;
    if (pooled.guests.size > 0) continue;
    threads.delete(pooled);
    track(state, pooled.thread.end());
  }
}

function track({ dying }: PoolState, ending: Promise<void>): void {
  const tracked = ending.finally(() => dying.delete(tracked));
  dying.add(tracked);
}

/** Takes a thread out. The guest that was on its CPU ends; the others never notice: they run again elsewhere. */
function lose(state: PoolState, pooled: PoolThread, lost: { readonly running: number; readonly end: GuestEnd }): void {
  if (!state.threads.delete(pooled)) return;
  const suspect = pooled.guests.get(lost.running);
  const others = [...pooled.guests.values()].filter((guest) => guest !== suspect);
  pooled.guests.clear();
  track(state, pooled.thread.end().then(() => suspect?.finish(lost.end)));
  const moving: LiveGuest[] = [];
  for (const guest of others) {
    guest.restarts += 1;
    if (guest.cancelledAtMs !== undefined) guest.finish({ kind: "cancelled" });
    else if (guest.isRepeatable && guest.restarts <= maxRestarts) moving.push(guest);
    else guest.finish({ kind: "crashed", message: "The thread of this program was lost to another program, and it could not be run again from its record" });
  }
  state.queue.unshift(...moving);
  fill(state);
}

function watchThread(state: PoolState, pooled: PoolThread, atMs: number): void {
  const { lose: lost, giveUp, move } = judge(pooled, atMs);
  for (const guest of giveUp) {
    abandon(pooled, guest.key, guest.slot);
    guest.finish({ kind: "cancelled" });
  }
  if (lost !== undefined) lose(state, pooled, lost);
  for (const guest of move) {
    const { key, slot } = guest;
    if (!place(state, guest)) return;
    abandon(pooled, key, slot);
  }
}

function startWatch(state: PoolState): void {
  state.watch ??= setInterval(() => {
    const atMs = performance.now();
    let live = state.queue.length;
    for (const pooled of Array.from(state.threads)) {
      if (pooled.guests.size > 0) watchThread(state, pooled, atMs);
      live += pooled.guests.size;
    }
    fill(state);
    retireExtra(state, atMs);
    if (live > 0) return;
    clearInterval(state.watch);
    state.watch = undefined;
  }, watchEveryMs).unref();
}

function cancel(state: PoolState, guest: LiveGuest): void {
  guest.cancelledAtMs ??= performance.now();
  const queued = state.queue.indexOf(guest);
  if (queued >= 0) {
    state.queue.splice(queued, 1);
    guest.finish({ kind: "cancelled" });
    return;
  }
  const pooled = threadOf(state, guest);
  if (pooled === undefined) return;
  pooled.thread.signalCancel(guest.slot);
  pooled.thread.post({ kind: "cancel", key: guest.key });
}

async function close(state: PoolState): Promise<void> {
  state.isClosed = true;
  clearInterval(state.watch);
  for (const guest of state.queue.splice(0)) guest.finish({ kind: "cancelled" });
  const threads = [...state.threads];
  state.threads.clear();
  const closing = threads.map(async ({ thread, guests }) => {
    await thread.end();
    for (const guest of guests.values()) guest.finish({ kind: "cancelled" });
  });
  await Promise.all([...closing, ...state.dying]);
}
