/** Time one guest was on the CPU. */
export interface CpuClock {
  begin(): void;
  /** CPU of all stretches so far. */
  end(): number;
  /** The same without the one that goes on. */
  endedMs(): number;
  isOver(): boolean;
}

/**
 * Short stretches are taken by the wall; from the engine's first question on, where the platform can tell (Node 24), by
 * the thread's own CPU time, so that a busy machine does not end a run early.
 */
export function createCpuClock(limitMs: number): CpuClock {
  const threadCpu = (process as { threadCpuUsage?: () => { user: number; system: number } }).threadCpuUsage?.bind(process);
  const threadMs = (): number => {
    const usage = threadCpu?.();
    return usage === undefined ? performance.now() : (usage.user + usage.system) / 1000;
  };
  let usedMs = 0;
  let beganMs = 0;
  let base: { readonly wallMs: number; readonly threadMs: number } | undefined;
  const stretchMs = (): number => (base === undefined ? performance.now() - beganMs : base.wallMs - beganMs + (threadMs() - base.threadMs));
  return {
    begin() {
      beganMs = performance.now();
      base = undefined;
    },
    end() {
      usedMs += stretchMs();
      return usedMs;
    },
    endedMs: () => usedMs,
    isOver() {
      base ??= { wallMs: performance.now(), threadMs: threadMs() };
      return usedMs + performance.now() - beganMs > limitMs && usedMs + stretchMs() > limitMs;
    },
  };
}
