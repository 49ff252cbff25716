/** Lets at most so many in at once, first come first served. */
export interface Slots {
  /** Resolves to the function that gives the slot back, or to undefined once `signal` aborts. */
  take(signal: AbortSignal): Promise<(() => void) | undefined>;
}

/** @param size how many at once, at least 1 */
export function createSlots(size: number): Slots {
  let free = size;
  const waiting = new Set<() => void>();

  function giveBack(): void {
    free += 1;
    const [next] = waiting;
    next?.();
  }

  function hold(): () => void {
    free -= 1;
    let held = true;
    return () => {
      if (held) giveBack();
      held = false;
    };
  }

  return {
    take(signal) {
      if (signal.aborted) return Promise.resolve(undefined);
      if (free > 0) return Promise.resolve(hold());
      return new Promise((resolve) => {
        const enter = (): void => {
          waiting.delete(enter);
          signal.removeEventListener("abort", leave);
          resolve(hold());
        };
        const leave = (): void => {
          waiting.delete(enter);
          resolve(undefined);
        };
        signal.addEventListener("abort", leave, { once: true });
        waiting.add(enter);
      });
    },
  };
}
