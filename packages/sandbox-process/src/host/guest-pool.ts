import type { GuestLanguage } from "../language/guest-language.ts";
import type { LaunchBounds } from "../launcher/launcher.ts";
import type { StartedGuest } from "./started-guest.ts";

/** Interpreters started ahead, so that a run does not wait for one. */
export interface GuestPool {
  /** A guest for one run, bounded by `memoryMiB` or less; it belongs to the caller from then on. */
  take(language: GuestLanguage, memoryMiB: number): StartedGuest;
  /** Ends those that wait. Guests that were taken are not touched. */
  close(): Promise<void>;
}

export interface GuestPoolOptions {
  /** Kept ready for each language that was used. */
  readonly warm: number;
  readonly bounds: LaunchBounds;
  readonly start: (language: GuestLanguage, bounds: LaunchBounds) => StartedGuest;
}

/** A run that takes longer than this has begun before the next interpreter is started. */
const longRunMs = 20;

/** A failed start is not tried again ahead of time until a run asked for one. */
export function createGuestPool({ warm, bounds, start }: GuestPoolOptions): GuestPool {
  const waiting = new Map<GuestLanguage, StartedGuest[]>();
  let isClosed = false;

  function tryStart(language: GuestLanguage): StartedGuest | undefined {
    try {
      return start(language, bounds);
    } catch {
      return undefined; // The next run says why.
    }
  }

  function refill(language: GuestLanguage): void {
    const ready = waiting.get(language) ?? [];
    waiting.set(language, ready);
    while (!isClosed && ready.length < warm) {
      const guest = tryStart(language);
      if (guest === undefined) return;
      ready.push(guest);
      guest.gone.then(
        () => {
          const at = ready.indexOf(guest);
          if (at >= 0) ready.splice(at, 1);
        },
        () => undefined,
      );
    }
  }

  /** To start a process holds up this thread for milliseconds: the answer of a short run does not wait for that. */
  function refillSoon(language: GuestLanguage, taken: StartedGuest): void {
    const timer = setTimeout(refill, longRunMs, language);
    taken.gone.then(() => {
      clearTimeout(timer);
      setImmediate(refill, language);
    }, () => undefined);
  }

  return {
    take(language, memoryMiB) {
      // Others have what they were started with.
      const fits = language.lowersMemory === true ? memoryMiB <= bounds.memoryMiB : memoryMiB === bounds.memoryMiB;
      const ready = waiting.get(language)?.filter(({ isGone }) => !isGone) ?? [];
      const taken = fits ? ready.shift() : undefined;
      waiting.set(language, ready);
      const guest = taken ?? start(language, { ...bounds, memoryMiB });
      refillSoon(language, guest);
      return guest;
    },
    async close() {
      isClosed = true;
      const all = [...waiting.values()].flat();
      waiting.clear();
      for (const guest of all) guest.kill();
      await Promise.all(all.map(({ gone }) => gone));
    },
  };
}
