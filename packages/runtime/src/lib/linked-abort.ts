/** An `AbortController` that also aborts with others, and can be let go of. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Takes its listeners off the parents. A run's signal outlives thousands of calls. */
  unlink(): void;
}

/** Follows `parents`: aborted as soon as one of them is, with its reason. */
export function linkedAbort(...parents: readonly AbortSignal[]): LinkedAbort {
  const controller = new AbortController();
  const follow = (event: Event): void => {
    controller.abort((event.target as AbortSignal).reason);
  };
  for (const parent of parents) {
    if (parent.aborted) controller.abort(parent.reason);
    else parent.addEventListener("abort", follow, { once: true });
  }
  return {
    signal: controller.signal,
    abort: (reason) => {
      controller.abort(reason);
    },
    unlink: () => {
      for (const parent of parents) parent.removeEventListener("abort", follow);
    },
  };
}
