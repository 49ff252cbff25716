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

/** A failed start is not tried again ahead of time until a run asked for one. */
export function createGuestPool({ warm, bounds, start }: GuestPoolOptions): GuestPool {
  const waiting = new Map<GuestLanguage, StartedGuest[]>();
  let isClosed = false;

  function refill(language: GuestLanguage): void {
    const ready = waiting.get(language) ?? [];
    waiting.set(language, ready);
    while (!isClosed && ready.length < warm) {
      const guest = start(language, bounds);
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

  return {
    take(language, memoryMiB) {
      // Others have what they were started with.
      const fits = language.lowersMemory === true ? memoryMiB <= bounds.memoryMiB : memoryMiB === bounds.memoryMiB;
      const ready = waiting.get(language)?.filter(({ isGone }) => !isGone) ?? [];
      const taken = fits ? ready.shift() : undefined;
      waiting.set(language, ready);
      const guest = taken ?? start(language, { ...bounds, memoryMiB });
      setImmediate(() => {
        try {
          refill(language);
        } catch {} // The next run says why.
      });
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
