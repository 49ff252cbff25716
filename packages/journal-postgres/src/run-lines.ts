/** Work on runs: of each run one piece after the other, of different runs at once. */
export interface RunLines {
  readonly after: <T>(runId: string, work: () => Promise<T>) => Promise<T>;
  idle(): Promise<void>;
}

export function createRunLines(): RunLines {
  const lines = new Map<string, Promise<unknown>>();
  return {
    async after(runId, work) {
      const line = lines.get(runId) ?? Promise.resolve();
      const turn = line.then(work, work);
      const settled = turn.then(() => undefined, () => undefined);
      lines.set(runId, settled);
      try {
        return await turn;
      } finally {
        if (lines.get(runId) === settled) lines.delete(runId);
      }
    },
    async idle() {
      await Promise.all(lines.values());
    },
  };
}
