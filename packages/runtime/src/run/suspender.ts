import type { Clock } from "@callgate/contract";

export interface SuspenderOptions {
  readonly clock: Clock;
  /** Infinity: never. */
  readonly suspendAfterMs: number;
  /** Whether what it waits for cannot come before it is given up: then nobody waits for that. Default: it may. */
  readonly isHopeless?: () => boolean;
  /** Whether nothing goes on that only this process could bring on. */
  readonly isResting: () => boolean;
  /** Told whenever rest begins or ends: waiting is not counted as run time (DESIGN P9). */
  readonly resting: (isResting: boolean) => void;
  /** Called once. */
  readonly suspend: () => void;
}

/** Decides when a run that only waits is given up until what it waits for has come. */
export interface Suspender {
  /** Something has changed. */
  touch(): void;
  stop(): void;
}

export function createSuspender({ clock, suspendAfterMs, isHopeless = () => false, isResting, resting, suspend }: SuspenderOptions): Suspender {
  let timer: { cancel(): void } | undefined;
  let rests = false;
  let stopped = false;

  function expired(): void {
    timer = undefined;
    if (stopped || !isResting()) return;
    stopped = true;
    suspend();
  }

  return {
    touch() {
      if (stopped) return;
      const now = isResting();
      if (now !== rests) resting((rests = now));
      if (!now) {
        timer?.cancel();
        timer = undefined;
      } else if (timer === undefined && Number.isFinite(suspendAfterMs)) timer = clock.schedule(isHopeless() ? 0 : suspendAfterMs, expired);
    },
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}
