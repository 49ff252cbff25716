import type { FoundFile } from "./scan-folder.ts";

/** Files that are to be read, and those who wait for it. */
export interface FileQueue {
  readonly size: number;
  has(path: string): boolean;
  /** What has changed by now, in place of what was in it. A file that is being read is not read again unless it has changed since. */
  fill(changed: readonly FoundFile[]): void;
  /** This one is read before the others. */
  hurry(path: string): void;
  next(): FoundFile | undefined;
  /** It has been read; where it has changed meanwhile it stays in the queue. */
  done(file: FoundFile): void;
  /** Waits until it holds, looking whenever a file is done. Rejects with the signal's reason. */
  until(holds: () => boolean, signal: AbortSignal): Promise<void>;
}

export function createFileQueue(): FileQueue {
  const pending = new Map<string, FoundFile>();
  const wakers = new Set<() => void>();
  let urgent: string | undefined;
  const wake = (): void => [...wakers].forEach((fire) => fire());
  return {
    get size() {
      return pending.size;
    },
    has: (path) => pending.has(path),
    fill(changed) {
      const now = new Set(changed.map(({ path }) => path));
      for (const path of pending.keys()) if (!now.has(path)) pending.delete(path);
      for (const file of changed) {
        const before = pending.get(file.path);
        if (before?.bytes !== file.bytes || before.modifiedMs !== file.modifiedMs) pending.set(file.path, file);
      }
      wake();
    },
    hurry: (path) => void (urgent = path),
    next: () => pending.get(urgent ?? "") ?? pending.values().next().value,
    done(file) {
      if (pending.get(file.path) === file) pending.delete(file.path);
      wake();
    },
    async until(holds, signal) {
      while (!holds()) {
        let fire = (): void => undefined;
        const woken = new Promise<void>((resolve) => (fire = resolve));
        wakers.add(fire);
        await orAborted(woken, signal).finally(() => wakers.delete(fire));
      }
    },
  };
}

/** Rejects with the signal's reason as soon as it aborts. */
export function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const settled = (): void => signal.removeEventListener("abort", onAbort);
    promise.then((value) => (settled(), resolve(value)), (fault: unknown) => (settled(), reject(fault as Error)));
  });
}
