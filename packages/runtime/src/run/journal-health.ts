/** Whether what a gate writes reaches its journal, as far as it has seen. */
export interface JournalHealth {
  /** What was last waited for was written, and nothing failed since: the end of a run that only read need not be waited for. */
  isSound: boolean;
  /** What could not be written after its run had been answered: the next run tells it. */
  readonly untold: Set<string>;
}

export function createJournalHealth(): JournalHealth {
  return { isSound: false, untold: new Set() };
}

/** What is to be told now; it is told once. */
export function takeUntold({ untold }: JournalHealth): readonly string[] {
  const all = [...untold];
  untold.clear();
  return all;
}
