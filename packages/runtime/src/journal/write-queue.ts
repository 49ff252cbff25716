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

/** Writes that wait for the next turn of the event loop, so that those of one turn share a transaction. */
export interface WriteQueue {
  /** Runs `work` inside a transaction, in the order of the calls; all of it is written or nothing. */
  write<T>(options: WriteOptions, work: () => T): Promise<T>;
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

/** Between two tries to get the lock. Real time, not the run's clock: another process holds it. */
const RETRY_MS = 10;

export interface WriteQueueOptions {
  readonly database: DatabaseSync;
  readonly path: string;
  /** How long a write waits for another process before it fails with JOURNAL_LOCKED. */
  readonly lockWaitMs: number;
}

/** One queue is one writer; SQLite's lock orders the writers of several processes. */
export function createWriteQueue(options: WriteQueueOptions): WriteQueue {
  const { database } = options;
  const transaction = createTransaction(database);
  const queue: Operation[] = [];
  let isScheduled = false;
  const whenIdle: (() => void)[] = [];

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    isScheduled = false;
    const batch = takeBatch(queue);
    try {
      const results = transaction(batch);
      batch.forEach((operation, index) => operation.resolve(results[index]));
    } catch (error) {
      if (isBusy(error)) return wait(batch, error);
      if (batch.length > 1) queue.unshift(...batch.map((operation) => Object.assign(operation, { alone: true })));
      else batch[0]?.reject(toJournalError(error, batch[0].what, options.path));
    }
    if (queue.length > 0) return schedule();
    for (const resolve of whenIdle.splice(0)) resolve();
  }

  function wait(batch: Operation[], error: unknown): void {
    const nowMs = performance.now();
    const kept: Operation[] = [];
    for (const operation of batch) {
      operation.waitingSinceMs ??= nowMs;
      if (nowMs - operation.waitingSinceMs < options.lockWaitMs) kept.push(operation);
      else operation.reject(lockedError(options, operation.what, error));
    }
    queue.unshift(...kept);
    isScheduled = true;
    setTimeout(flush, RETRY_MS);
  }

  return {
    write<T>({ durability, what }: WriteOptions, work: () => T): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        queue.push({ durability, what, work, resolve: resolve as (value: unknown) => void, reject, alone: false, waitingSinceMs: undefined });
        schedule();
      });
    },
    async idle() {
      if (queue.length > 0 || isScheduled) await new Promise<void>((resolve) => whenIdle.push(resolve));
    },
  };
}

function takeBatch(queue: Operation[]): Operation[] {
  if (queue[0]?.alone === true) return queue.splice(0, 1);
  const end = queue.findIndex((operation) => operation.alone);
  return queue.splice(0, Math.min(end === -1 ? queue.length : end, BATCH_SIZE));
}

/** Runs a batch in one transaction. With `full` its commit, and with it everything committed before, is synced. */
function createTransaction(database: DatabaseSync): (batch: readonly Operation[]) => unknown[] {
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  let synchronous: Durability = "lazy";
  return (batch) => {
    const needed: Durability = batch.some((operation) => operation.durability === "full") ? "full" : "lazy";
    if (needed !== synchronous) {
      // A switch costs less than a second connection kept for it (measured: 0.26 against 0.28 ms a synced insert).
      database.exec(`pragma synchronous = ${needed === "full" ? "full" : "normal"}`);
      synchronous = needed;
    }
    if (batch.length > 0) begin.run();
    else return [];
    try {
      const results = batch.map((operation) => operation.work());
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
