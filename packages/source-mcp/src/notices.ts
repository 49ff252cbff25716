import type { LogLevel, SourceNotice } from "@callgate/contract";
import type { Connection } from "./connection.ts";
import type { Connector } from "./connector.ts";

/** What a server says by itself, and what it was asked to say; asked again of each new connection. */
export interface Notices {
  readonly tell: (notice: SourceNotice) => void;
  readonly listen: (listener: (notice: SourceNotice) => void) => () => void;
  subscribe(uri: string, signal: AbortSignal): Promise<void>;
  readonly unsubscribe: (uri: string) => Promise<void>;
  setLogLevel(level: LogLevel, signal: AbortSignal): Promise<void>;
  /** A new connection knows nothing of what was asked of the last. */
  readonly connected: (connection: Connection) => void;
}

/** How long a server may take to agree to what it had agreed to before. */
const AGAIN_TIMEOUT_MS = 10_000;

/** @param connector not asked before something is */
export function createNotices(connector: () => Connector): Notices {
  const listeners = new Set<(notice: SourceNotice) => void>();
  const wanted = new Set<string>();
  /** What ends a subscription, of the connection that it was made over. */
  const ends = new Map<string, () => Promise<void>>();
  let level: LogLevel | undefined;
  return {
    tell: (notice) => {
      for (const listener of listeners) listener(notice);
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async subscribe(uri, signal) {
      const connection = await connector().get(signal);
      ends.set(uri, await connection.subscribe(uri, signal));
      wanted.add(uri);
    },
    async unsubscribe(uri) {
      wanted.delete(uri);
      const end = ends.get(uri);
      ends.delete(uri);
      await end?.();
    },
    async setLogLevel(next, signal) {
      level = next;
      // A server that is started later is told then.
      if (connector().state().kind === "ready") await (await connector().get(signal)).setLogLevel(next, signal);
    },
    connected: (connection) => {
      ends.clear();
      const signal = AbortSignal.timeout(AGAIN_TIMEOUT_MS);
      const again: Promise<void>[] = [...wanted].map(async (uri) => {
        ends.set(uri, await connection.subscribe(uri, signal));
      });
      if (level !== undefined) again.push(connection.setLogLevel(level, signal));
      // A server that no longer agrees says nothing; its tools are none the worse.
      Promise.allSettled(again).catch(() => undefined);
    },
  };
}
