import type { SourceState } from "@callgate/contract";
import { Pool } from "tarn";
import type { SqlDriver, SqlSession } from "./session.ts";
import { SqlFault } from "./sql-fault.ts";

/** Told of a database that could not be reached: from when on a use tries again. */
const retryAfterMs = 1_000;
/** Nobody mends a password within a second. */
const signInAgainMs = 30_000;
/** How often who waits for a connection asks for one back. */
const reclaimEveryMs = 200;
/** Connections that nobody needs are let go. */
const idleMs = 30_000;

export interface DatabaseOptions {
  readonly driver: SqlDriver;
  readonly maxConnections: number;
  /** A connection in use that can be had back, where there is one: that of a cursor nobody reads. */
  readonly reclaim: () => void;
  readonly onChange: () => void;
}

/** The connections to one database, and how it stands. */
export interface Database {
  readonly driver: SqlDriver;
  readonly state: SourceState;
  /** Waits for a free connection. Errors: `SqlFault` unreachable, sign_in; the reason of `signal`. */
  take(signal: AbortSignal): Promise<SqlSession>;
  /** After use, broken or not. */
  readonly giveBack: (session: SqlSession) => void;
  /** How it was found to be: it answered, or a connection was lost that nobody here had ended. */
  found(what: "answering" | "lost"): void;
  /** Ends all connections, also those in use. Idempotent. */
  close(): Promise<void>;
}

export function createDatabase({ driver, maxConnections, reclaim, onChange }: DatabaseOptions): Database {
  let state: SourceState = { kind: "connecting" };
  let closing: Promise<void> | undefined;
  const tell = (next: SourceState): void => {
    const isSame = JSON.stringify(next) === JSON.stringify(state);
    state = next;
    if (!isSame) onChange();
  };
  const all = new Set<SqlSession>();
  const pool = createPool({ driver, maxConnections, all, tell });

  return {
    driver,
    get state() {
      return state;
    },
    async take(signal) {
      signal.throwIfAborted();
      if (closing !== undefined) throw new SqlFault({ kind: "unreachable", message: "the source was closed" });
      const pending = pool.acquire();
      const waiting = setInterval(() => pool.numUsed() >= maxConnections && reclaim(), reclaimEveryMs).unref();
      const abort = (): void => pending.abort();
      signal.addEventListener("abort", abort, { once: true });
      try {
        return await pending.promise;
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        clearInterval(waiting);
        signal.removeEventListener("abort", abort);
      }
    },
    giveBack: (session) => void pool.release(session),
    found(what) {
      if (closing !== undefined) return;
      tell(what === "answering" ? { kind: "ready" } : { kind: "down", reason: `${driver.label}: the connection was lost; the next use makes a new one`, brief: "its connection was lost", retryAfterMs: 0 });
    },
    close: () =>
      (closing ??= (async () => {
        // What is under way fails, and gives its connection back; the pool waits for that.
        for (const session of all) session.destroy();
        await pool.destroy();
        state = { kind: "down", reason: "closed" };
      })()),
  };
}

interface PoolParts {
  readonly driver: SqlDriver;
  readonly maxConnections: number;
  /** Those that live, free or not. */
  readonly all: Set<SqlSession>;
  readonly tell: (state: SourceState) => void;
}

function createPool({ driver, maxConnections, all, tell }: PoolParts): Pool<SqlSession> {
  return new Pool<SqlSession>({
    create: async () => {
      try {
        const session = await driver.connect();
        all.add(session);
        tell({ kind: "ready" });
        return session;
      } catch (error) {
        tell(stateAfter(error, driver.label));
        throw error;
      }
    },
    destroy: (session) => {
      all.delete(session);
      session.destroy();
    },
    validate: (session) => !session.isBroken,
    min: 0,
    max: maxConnections,
    idleTimeoutMillis: idleMs,
    // The deadline of the call bounds both.
    acquireTimeoutMillis: 2 ** 31 - 1,
    createTimeoutMillis: 2 ** 31 - 1,
    propagateCreateError: true,
  });
}

function stateAfter(error: unknown, label: string): SourceState {
  if (!(error instanceof SqlFault)) return { kind: "down", reason: `${label}: ${String(error)}`, brief: "it could not be reached", retryAfterMs };
  const why = error.code === undefined ? error.message : `${error.message} (${error.code})`;
  if (error.kind === "sign_in") return { kind: "down", reason: `${label} refuses to let the user in: ${why}. Check user, password and name of the database in the URL that the configuration refers to`, brief: "it refuses user or password", retryAfterMs: signInAgainMs };
  return { kind: "down", reason: `${label} cannot be reached: ${why}. Check that it is up, and where the configuration says it is`, brief: "it cannot be reached", retryAfterMs };
}
