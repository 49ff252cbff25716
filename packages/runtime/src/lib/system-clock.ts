import type { Clock } from "@callgate/contract";

/** Longer delays than timers can count are waited for in parts. */
const maxDelayMs = 2_147_483_647;

/** The clock of the host. Its timers keep the process alive until they fire or are cancelled. */
export function systemClock(): Clock {
  return { now: () => Date.now(), monotonic: machineMs, schedule };
}

/** `performance.now()` counts from the start of the process. */
function machineMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

function schedule(delayMs: number, fire: () => void): { cancel(): void } {
  let timer: ReturnType<typeof setTimeout>;
  const arm = (leftMs: number): void => {
    timer = setTimeout(() => (leftMs > maxDelayMs ? arm(leftMs - maxDelayMs) : fire()), Math.min(leftMs, maxDelayMs));
  };
  arm(Math.max(0, delayMs));
  return { cancel: () => clearTimeout(timer) };
}
