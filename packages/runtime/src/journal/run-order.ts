/** Keeps the writes of one run in the order they were asked for, although some have to prepare first. */
export interface RunOrder {
  /** Calls `write` with what was prepared, after every earlier write of the run was asked for. */
  after<P, T>(runId: string, prepared: P | Promise<P>, write: (prepared: P) => Promise<T>): Promise<T>;
  /** Resolves once nothing is being prepared. Undefined: nothing is. */
  idle(): Promise<void> | undefined;
}

export function createRunOrder(): RunOrder {
  /** The last write of a run that had to wait; settles when it was asked for. */
  const tails = new Map<string, Promise<void>>();

  return {
    async after(runId, prepared, write) {
      const tail = tails.get(runId);
      // The usual case: nothing to wait for, so it joins the transaction of this very turn.
      if (tail === undefined && !(prepared instanceof Promise)) return write(prepared);
      const { promise: asked, resolve } = Promise.withResolvers<void>();
      tails.set(runId, asked);
      try {
        const ready = await Promise.all([prepared, tail]);
        const written = write(ready[0]);
        leave();
        return await written;
      } finally {
        leave();
      }

      function leave(): void {
        resolve();
        if (tails.get(runId) === asked) tails.delete(runId);
      }
    },
    idle: () => (tails.size === 0 ? undefined : Promise.all(tails.values()).then(() => undefined)),
  };
}
