import type { Clock, Queue, RunHint } from "@callgate/contract";

export interface PollingQueueOptions {
  readonly clock: Clock;
  /** How often the journal is looked through without a hint. Default 1,000. */
  readonly everyMs?: number;
}

/**
 * The queue that needs nothing: a hint reaches the workers of this process at once, all others find the run by looking
 * through the journal (`work`'s own polling).
 */
export function createPollingQueue({ clock, everyMs = 1_000 }: PollingQueueOptions): Queue {
  const listeners = new Set<(hint: RunHint | undefined) => void>();
  const stops = new Set<() => Promise<void>>();

  function work(handler: Parameters<Queue["work"]>[0], { concurrency }: { readonly concurrency: number }): { stop(): Promise<void> } {
    const underWay = new Set<Promise<void>>();
    let waiting: (RunHint | undefined)[] = [];
    let timer: { cancel(): void } | undefined;
    let busy = 0;
    let stopped = false;

    function next(): void {
      while (!stopped && busy < concurrency && waiting.length > 0) {
        busy += 1; // Before it is called: it may ask for more at once.
        const running = handler(waiting.shift(), () => hear(undefined)).finally(() => {
          busy -= 1;
          underWay.delete(running);
          next();
        });
        underWay.add(running);
      }
    }
    function hear(hint: RunHint | undefined): void {
      if (stopped) return;
      if (hint !== undefined || waiting.length === 0) waiting.push(hint);
      next();
    }
    function poll(): void {
      // One looks; where it finds something the next one does.
      hear(undefined);
      timer = clock.schedule(everyMs, poll);
    }

    listeners.add(hear);
    poll();
    const stop = async (): Promise<void> => {
      stopped = true;
      waiting = [];
      timer?.cancel();
      listeners.delete(hear);
      stops.delete(stop);
      await Promise.allSettled(underWay);
    };
    stops.add(stop);
    return { stop };
  }

  return {
    wake(hint) {
      for (const hear of listeners) hear(hint);
      return Promise.resolve();
    },
    work,
    async close() {
      await Promise.all([...stops].map((stop) => stop()));
    },
  };
}
