import type { LimitName, RunLimits } from "@callgate/contract";
import type { ResourceUse } from "../launcher/launcher.ts";

export interface UseWatch {
  /** CPU time of the run so far, as last seen. */
  readonly cpuMs: number;
  stop(): void;
}

export interface WatchOptions {
  readonly use: () => ResourceUse | undefined;
  readonly limits: Pick<RunLimits, "cpuMs" | "memoryMiB">;
  /** Beyond `memoryMiB` of all processes together: code, files in memory, pages counted twice. */
  readonly slackMiB: number;
  readonly over: (limit: Extract<LimitName, "cpuMs" | "memoryMiB">) => void;
}

const shortestMs = 10;
const longestMs = 100;

/**
 * Looks at what a guest uses, more often the closer it is to its CPU limit: a guest on `n` cores cannot use more than
 * `n` times the time that passes. CPU before the run (starting the interpreter) does not count.
 */
export function watchUse({ use, limits, slackMiB, over }: WatchOptions): UseWatch {
  const before = use()?.cpuMs ?? 0;
  let cpuMs = 0;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    const now = use();
    if (now !== undefined) {
      cpuMs = Math.max(cpuMs, now.cpuMs - before);
      if (cpuMs >= limits.cpuMs) return over("cpuMs");
      if (now.memoryMiB > limits.memoryMiB + slackMiB) return over("memoryMiB");
    }
    timer = setTimeout(look, Math.min(longestMs, Math.max(shortestMs, (limits.cpuMs - cpuMs) / 2)));
  }
  timer = setTimeout(look, Math.min(longestMs, Math.max(shortestMs, limits.cpuMs / 2)));
  return {
    get cpuMs() {
      return cpuMs;
    },
    stop: () => clearTimeout(timer),
  };
}
