import type { Clock } from "@callgate/contract";

/** The wall time of a run, which stands still while a person is asked (DESIGN P9). */
export interface WallClock {
  /** A question with this id is open. */
  pause(id: string): void;
  /** It was answered, or its call ended. */
  resume(id: string): void;
  stop(): void;
}

/** @param expired called once, when `wallMs` have passed without the pauses */
export function startWallClock(clock: Clock, wallMs: number, expired: () => void): WallClock {
  const open = new Set<string>();
  let leftMs = wallMs;
  let runningSince: number | undefined;
  let timer: { cancel(): void } | undefined;
  let over = false;

  function run(): void {
    runningSince = clock.monotonic();
    timer = clock.schedule(leftMs, () => {
      over = true;
      expired();
    });
  }

  function halt(): void {
    timer?.cancel();
    if (runningSince !== undefined) leftMs -= clock.monotonic() - runningSince;
    leftMs = Math.max(0, leftMs);
    runningSince = undefined;
  }

  run();
  return {
    pause(id) {
      if (over) return;
      if (open.size === 0) halt();
      open.add(id);
    },
    resume(id) {
      if (open.delete(id) && open.size === 0 && !over) run();
    },
    stop() {
      over = true;
      timer?.cancel();
    },
  };
}
