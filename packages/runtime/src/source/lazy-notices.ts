import type { LogLevel, Source, SourceNotice, SourceNotices } from "@callgate/contract";

/** Notices of a source that is opened when something is asked of it. */
export interface LazyNotices extends SourceNotices {
  /** It has been opened: what it says is told from now on. */
  opened(source: Source): void;
}

/**
 * Listening opens nothing, and the level of log messages is asked for when the source is opened for something else.
 *
 * @param open what subscribing opens
 */
export function createLazyNotices(open: () => Promise<Source>): LazyNotices {
  const listeners = new Set<(notice: SourceNotice) => void>();
  let inner: SourceNotices | undefined;
  let level: LogLevel | undefined;
  return {
    opened(source) {
      inner = source.passThrough?.notices;
      inner?.listen((notice) => {
        for (const listener of listeners) listener(notice);
      });
      // Its tools are none the worse where it does not agree.
      if (level !== undefined) inner?.setLogLevel(level, AbortSignal.timeout(levelTimeoutMs)).catch(() => undefined);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async subscribe(uri, signal) {
      await (await open()).passThrough?.notices?.subscribe(uri, signal);
    },
    unsubscribe: async (uri) => await inner?.unsubscribe(uri),
    async setLogLevel(next, signal) {
      level = next;
      await inner?.setLogLevel(next, signal);
    },
  };
}

const levelTimeoutMs = 30_000;
