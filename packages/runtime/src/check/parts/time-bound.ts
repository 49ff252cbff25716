/** What one check may take. */
export interface CheckTime {
  /** Of computing. What a program asks of its checker, whatever else the machine does. */
  readonly cpuMs: number;
  /** From beginning to end: the backstop for what does not compute, and where the system does not tell who does. */
  readonly wallMs: number;
}

/** A check that was ended: at which of its bounds, and how long it had computed, as far as that is known. */
export interface TimedOut {
  readonly kind: "timed_out";
  readonly bound: "cpu" | "wall";
  readonly ms: number;
  readonly usedCpuMs: number | undefined;
}

/** How often it is looked at. A check that is over before costs no look at all. */
const everyMs = 250;

/**
 * Watches one check. Its first look is where counting begins, so that up to 250 ms of computing go free.
 *
 * @param readCpuMs CPU time of the checker so far; undefined, or never answering, where that is not known
 * @param over called at most once, when a bound is reached
 * @returns what ends the watch
 */
export function boundTime({ cpuMs, wallMs }: CheckTime, readCpuMs: () => Promise<number | undefined>, over: (end: TimedOut) => void): () => void {
  let firstMs: number | undefined;
  let usedCpuMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(wall);
  };
  const end = (bound: TimedOut["bound"], ms: number): void => {
    if (isOver) return;
    stop();
    over({ kind: "timed_out", bound, ms, usedCpuMs });
  };
  const look = (): void => {
    readCpuMs()
      .catch(() => undefined)
      .then((nowMs) => {
        if (isOver) return;
        if (nowMs !== undefined) {
          firstMs ??= nowMs;
          usedCpuMs = nowMs - firstMs;
          if (usedCpuMs > cpuMs) return end("cpu", cpuMs);
        }
        timer = setTimeout(look, everyMs);
      })
      .catch(() => undefined);
  };
  const wall = setTimeout(() => end("wall", wallMs), wallMs);
  timer = setTimeout(look, everyMs);
  return stop;
}

/** Says which bound it was, whose fault that is, and what to do. @param advice what makes a program quicker to check */
export function timedOutText({ bound, ms, usedCpuMs }: TimedOut, advice: string): string {
  if (bound === "cpu") return `The program could not be checked within ${ms / 1000} s of computing. ${advice}`;
  const waited = `The check was not over after ${ms / 1000} s`;
  if (usedCpuMs === undefined) return `${waited}; how much of that it could compute is not known here. Try again when the machine is less busy. ${advice}`;
  return `${waited}, of which it could compute for ${(usedCpuMs / 1000).toFixed(1)} s: the machine is too busy, which says nothing about the program. Try again`;
}
