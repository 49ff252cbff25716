import { linkedAbort } from "./linked-abort.ts";
import type { LinkedAbort } from "./linked-abort.ts";

/** Something that may be told to stop. Following it costs less than an `AbortSignal`, which every call would make several of. */
export interface Stop {
  readonly aborted: boolean;
  /** Once it has aborted. */
  readonly reason: unknown;
  /** The same as a signal; made when it is first asked for. */
  readonly signal: AbortSignal;
  /** Calls `heard` when it aborts; not when it has already. `heard` must not throw. Returns what takes it off. */
  listen(heard: () => void): () => void;
}

/** A signal as it is. */
export function stopOf(signal: AbortSignal): Stop {
  return {
    signal,
    get aborted() {
      return signal.aborted;
    },
    get reason(): unknown {
      return signal.reason;
    },
    listen(heard) {
      signal.addEventListener("abort", heard, { once: true });
      return () => signal.removeEventListener("abort", heard);
    },
  };
}

/** Stops of many calls at once: one listener at a signal, however many follow it. */
export interface SharedStops {
  /** Stops with `signal`, and when all are stopped. `release` lets go of what it listens to. */
  of(signal: AbortSignal): ReleasedStop;
  /** Stops all, those to come included. */
  stopAll(reason: unknown): void;
  readonly allStopped: boolean;
}

export interface ReleasedStop extends Stop {
  release(): void;
}

export function createSharedStops(): SharedStops {
  const all = new AbortController();
  const ofAll = createFollowers();
  const bySignal = new WeakMap<AbortSignal, Followers>();

  function follow(signal: AbortSignal, heard: () => void): () => void {
    let followers = bySignal.get(signal);
    if (followers === undefined) bySignal.set(signal, (followers = createFollowers(signal)));
    const [leave, leaveAll] = [followers.add(heard), ofAll.add(heard)];
    return () => {
      leave();
      leaveAll();
    };
  }

  return {
    of: (signal) => createStop(signal, all.signal, (heard) => follow(signal, heard)),
    stopAll(reason) {
      all.abort(reason);
      ofAll.tell();
    },
    get allStopped() {
      return all.signal.aborted;
    },
  };
}

function createStop(own: AbortSignal, all: AbortSignal, listen: Stop["listen"]): ReleasedStop {
  let linked: LinkedAbort | undefined;
  return {
    get aborted() {
      return own.aborted || all.aborted;
    },
    get reason(): unknown {
      return own.aborted ? own.reason : all.reason;
    },
    get signal() {
      linked ??= linkedAbort(own, all);
      return linked.signal;
    },
    listen,
    release: () => linked?.unlink(),
  };
}

interface Followers {
  add(heard: () => void): () => void;
  tell(): void;
}

/** Told by hand, or by a signal that is listened to while anybody follows. */
function createFollowers(signal?: AbortSignal): Followers {
  const all = new Set<() => void>();
  const tell = (): void => {
    for (const heard of Array.from(all)) heard();
  };
  return {
    tell,
    add(heard) {
      if (all.size === 0) signal?.addEventListener("abort", tell, { once: true });
      all.add(heard);
      return () => {
        if (all.delete(heard) && all.size === 0) signal?.removeEventListener("abort", tell);
      };
    },
  };
}

/** Where the work of somebody is told to stop. Most work never asks for the signal, so it is made when first asked for. */
export interface Inner {
  readonly aborted: boolean;
  readonly signal: AbortSignal;
}

export function createInner(): Inner & { abort(reason: unknown): void } {
  let controller: AbortController | undefined;
  let stopped: { readonly reason: unknown } | undefined;
  return {
    get aborted() {
      return stopped !== undefined;
    },
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (stopped !== undefined) controller.abort(stopped.reason);
      }
      return controller.signal;
    },
    abort(reason) {
      stopped ??= { reason };
      controller?.abort(reason);
    },
  };
}
