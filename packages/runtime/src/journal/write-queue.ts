import type { DatabaseSync } from "node:sqlite";
import { CallgateError } from "@callgate/contract";
import type { Durability } from "@callgate/contract";
import { findLockHolder } from "./lock-holder.ts";
import { isBusy, toJournalError } from "./sqlite-error.ts";

export interface WriteOptions {
  readonly durability: Durability;
  /** Begins the error's message, e.g. `Cannot append to run r1`. */
  readonly what: string;
}

/**
 * Writes that wait, so that those of one turn of the event loop, and the `later` ones of some milliseconds, share a
 * transaction: beginning and committing one costs as much as inserting six entries.
 */
export interface WriteQueue {
  /** Runs `work` inside a transaction, in the order of the calls; all of it is written or nothing. */
  write<T>(options: WriteOptions, work: () => T): Promise<T>;
  /** Writes at once what waits, for somebody is about to read. While another process holds the lock it does nothing. */
  catchUp(): void;
  /** Resolves once everything asked for so far is settled. */
  idle(): Promise<void>;
}

interface Operation extends WriteOptions {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: CallgateError) => void;
  /** Set after its batch failed: it is tried by itself, so that one bad write fails no other. */
  alone: boolean;
  waitingSinceMs: number | undefined;
}

/** Bounds the time one batch keeps the event loop: about 10 ms of inserts. */
const BATCH_SIZE = 256;

/** How long a `later` write waits for others. A guest's next call takes 0.1 ms. */
const GATHER_MS = 5;

/** Between two tries to get the lock. Real time, not the run's clock: another process holds it. */
const RETRY_MS = 10;

export interface WriteQueueOptions {
  readonly database: DatabaseSync;
  readonly path: string;
  /** How long a write waits for another process before it fails with JOURNAL_LOCKED. */
  readonly lockWaitMs: number;
  /** Called in each transaction before its first work: what was read before it may have changed. */
  readonly began: () => void;
  /** Called in each transaction after its last work. */
  readonly ending: () => void;
}

/** One queue is one writer; SQLite's lock orders the writers of several processes. */
export function createWriteQueue(options: WriteQueueOptions): WriteQueue {
  const transaction = createTransaction(options);
  const queue: Operation[] = [];
  const plan = createPlan(flush);
  const whenIdle: (() => void)[] = [];
  const patience = createPatience(options.lockWaitMs);

  function flush(): void {
    plan.drop();
    const batch = takeBatch(queue);
    try {
      const results = transaction(batch);
      patience.wrote();
      batch.forEach((operation, index) => operation.resolve(results[index]));
    } catch (error) {
      if (isBusy(error)) return wait(batch, error);
      if (batch.length > 1) queue.unshift(...batch.map((operation) => Object.assign(operation, { alone: true })));
      else batch[0]?.reject(toJournalError(error, batch[0].what, options.path));
    }
    if (queue.length > 0) return plan.next("turn");
    for (const resolve of whenIdle.splice(0)) resolve();
  }

  function wait(batch: Operation[], error: unknown): void {
    const nowMs = performance.now();
    const kept: Operation[] = [];
    patience.busy(nowMs);
    for (const operation of batch) {
      operation.waitingSinceMs ??= nowMs;
      if (nowMs - operation.waitingSinceMs < patience.of(operation.waitingSinceMs)) kept.push(operation);
      else operation.reject(lockedError(options, operation.what, error));
    }
    queue.unshift(...kept);
    plan.next("retry");
  }

  return {
    write<T>({ durability, what }: WriteOptions, work: () => T): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        queue.push({ durability, what, work, resolve: resolve as (value: unknown) => void, reject, alone: false, waitingSinceMs: undefined });
        plan.next(durability === "later" && queue.length < BATCH_SIZE ? "gather" : "turn");
      });
    },
    catchUp() {
      while (queue.length > 0 && plan.current !== "retry") flush();
    },
    async idle() {
      if (queue.length === 0) return;
      const idle = new Promise<void>((resolve) => whenIdle.push(resolve));
      plan.next("turn");
      await idle;
    },
  };
}

/** How long a write waits for the lock. */
interface Patience {
  /** The lock was found held. */
  busy(nowMs: number): void;
  /** It was free. */
  wrote(): void;
  /** For a write that waits since then. */
  of(sinceMs: number): number;
}

/** Of the whole wait, for a write that begins when others have waited in vain: a call of five writes does not wait five times. */
const LATER_SHARE = 0.1;

function createPatience(lockWaitMs: number): Patience {
  let heldSinceMs: number | undefined;
  let lastBusyMs = -Infinity;
  return {
    busy(nowMs) {
      // Nobody looked for so long: whether it was held all the time is not known.
      if (heldSinceMs === undefined || nowMs - lastBusyMs > lockWaitMs) heldSinceMs = nowMs;
      lastBusyMs = nowMs;
    },
    wrote: () => {
      heldSinceMs = undefined;
    },
    of: (sinceMs) => (heldSinceMs !== undefined && sinceMs - heldSinceMs >= lockWaitMs ? lockWaitMs * LATER_SHARE : lockWaitMs),
  };
}

/** When the next batch is written: in the next turn, when some more were gathered, or when the lock may be free. */
type Next = "turn" | "gather" | "retry";

interface Plan {
  readonly current: Next | undefined;
  /** Keeps what is planned, unless `next` is sooner. A retry is waited for. */
  next(next: Next): void;
  drop(): void;
}

function createPlan(flush: () => void): Plan {
  let current: Next | undefined;
  let cancel = (): void => undefined;

  function drop(): void {
    current = undefined;
    cancel();
    cancel = () => undefined;
  }

  return {
    get current() {
      return current;
    },
    next(next) {
      if (current !== undefined && !(current === "gather" && next === "turn")) return;
      drop();
      current = next;
      if (next === "turn") {
        const immediate = setImmediate(flush);
        cancel = () => clearImmediate(immediate);
      } else {
        const timer = setTimeout(flush, next === "gather" ? GATHER_MS : RETRY_MS);
        cancel = () => clearTimeout(timer);
      }
    },
    drop,
  };
}

function takeBatch(queue: Operation[]): Operation[] {
  if (queue[0]?.alone === true) return queue.splice(0, 1);
  const end = queue.findIndex((operation) => operation.alone);
  return queue.splice(0, Math.min(end === -1 ? queue.length : end, BATCH_SIZE));
}

/** Runs a batch in one transaction. With `full` its commit, and with it everything committed before, is synced. */
function createTransaction({ database, began, ending }: WriteQueueOptions): (batch: readonly Operation[]) => unknown[] {
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  let synchronous: "full" | "lazy" = "lazy";
  return (batch) => {
    const needed = batch.some((operation) => operation.durability === "full") ? "full" : "lazy";
    if (needed !== synchronous) {
      // A switch costs less than a second connection kept for it (measured: 0.26 against 0.28 ms a synced insert).
      database.exec(`pragma synchronous = ${needed === "full" ? "full" : "normal"}`);
      synchronous = needed;
    }
    if (batch.length > 0) begin.run();
    else return [];
    began();
    try {
      const results = batch.map((operation) => operation.work());
      ending();
      commit.run();
      return results;
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  };
}

function lockedError({ path, lockWaitMs }: WriteQueueOptions, what: string, cause: unknown): CallgateError {
  const pid = findLockHolder(path);
  const holder = pid === undefined ? "another process" : `process ${pid}`;
  return new CallgateError(
    "JOURNAL_LOCKED",
    `${what}: ${holder} has kept ${path} locked for ${lockWaitMs} ms. Nothing of it was written; end that process if it hangs, then try again`,
    { cause, details: { path, ...(pid === undefined ? {} : { pid }) } },
  );
}
