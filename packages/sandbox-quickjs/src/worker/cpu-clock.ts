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
 * By the thread's own CPU time where the platform can tell (Node 24), else by the wall. However short a stretch is: on a busy
 * machine the thread may wait for the CPU in each of hundreds, and a run would end early for what it did not compute.
 */
export function createCpuClock(limitMs: number): CpuClock {
  const threadCpu = (process as { threadCpuUsage?: () => { user: number; system: number } }).threadCpuUsage?.bind(process);
  const threadMs = (): number => {
    const usage = threadCpu?.();
    return usage === undefined ? performance.now() : (usage.user + usage.system) / 1000;
  };
  let usedMs = 0;
  let beganMs = 0;
  let beganWallMs = 0;
  const stretchMs = (): number => threadMs() - beganMs;
  return {
    begin() {
      beganMs = threadMs();
      beganWallMs = performance.now();
    },
    end() {
      usedMs += stretchMs();
      return usedMs;
    },
    endedMs: () => usedMs,
    // The engine asks many times a millisecond: nobody computes for longer than the wall says, which costs less to ask.
    isOver: () => usedMs + performance.now() - beganWallMs > limitMs && usedMs + stretchMs() > limitMs,
  };
}
