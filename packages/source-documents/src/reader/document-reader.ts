import { Worker } from "node:worker_threads";
import { threadEnvironment } from "@callgate/runtime/check-parts";
import type { DocumentFile, DocumentRead } from "./read-document.ts";

/** Reads files that may be hostile, one after the other. */
export interface DocumentReader {
  /** Never rejects: a file that takes too long or too much, or ends the thread, is unreadable, and the next one is read. */
  read(file: DocumentFile): Promise<DocumentRead>;
  /** Ends what is under way, which is then unreadable. Idempotent. */
  close(): Promise<void>;
}

export interface ReaderBounds {
  /** Of one file. */
  readonly timeoutMs: number;
  /** Heap and buffers of the thread, what it holds of the file included. */
  readonly memoryMiB: number;
}

/** Works from source and from dist: the entry has the extension of this file. */
const workerUrl = new URL(`./reader-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
const mebibyte = 1024 * 1024;
/** How often the memory is looked at. What unpacks does so at some 100 MiB a second. */
const lookMs = 100;

/** A thread is started at the first file, and again after each that ended one. An idle one keeps no process alive. */
export function createDocumentReader(bounds: ReaderBounds): DocumentReader {
  let worker: Worker | undefined;
  let isClosed = false;
  let end: ((reason: string) => void) | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  const readNow = async (file: DocumentFile): Promise<DocumentRead> => {
    if (isClosed) return { kind: "unreadable", reason: closedReason };
    const thread = (worker ??= startThread(bounds));
    thread.ref();
    const { read, isSpent } = await runJob(thread, file, { bounds, hearEnd: (stop) => (end = stop) });
    end = undefined;
    thread.unref();
    if (isSpent) {
      worker = undefined;
      await thread.terminate();
    }
    return read;
  };
  return {
    read(file) {
      const reading = turn.then(() => readNow(file));
      turn = reading;
      return reading;
    },
    async close() {
      isClosed = true;
      end?.(closedReason);
      await turn;
      await worker?.terminate();
      worker = undefined;
    },
  };
}

const closedReason = "the source was closed";

function startThread({ memoryMiB }: ReaderBounds): Worker {
  const worker = new Worker(workerUrl, {
    name: "callgate-documents",
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    env: threadEnvironment(),
    execArgv: [],
    stdin: false,
    // Libraries write warnings about files there; they are nobody's.
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  // Whoever waits hears of it by a listener of their own; without any the process would end.
  worker.on("error", () => undefined);
  return worker;
}

interface Job {
  readonly bounds: ReaderBounds;
  /** Is given what ends the job from outside. */
  readonly hearEnd: (stop: (reason: string) => void) => void;
}

/** `isSpent`: the thread can read nothing more. */
function runJob(worker: Worker, file: DocumentFile, { bounds: { timeoutMs, memoryMiB }, hearEnd }: Job): Promise<{ readonly read: DocumentRead; readonly isSpent: boolean }> {
  return new Promise((done) => {
    const finish = (read: DocumentRead, isSpent: boolean): void => {
      clearTimeout(timer);
      clearInterval(looks);
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      done({ read, isSpent });
    };
    const stop = (reason: string): void => finish({ kind: "unreadable", reason }, true);
    const tooLarge = `reading it takes more than ${memoryMiB} MiB of memory`;
    const onMessage = (read: DocumentRead): void => finish(read, false);
    const onError = (fault: Error): void => stop("code" in fault && fault.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooLarge : `it cannot be read (${fault.message.slice(0, 200)})`);
    const onExit = (): void => stop("reading it ended its thread");
    const timer = setTimeout(() => stop(`reading it takes longer than ${timeoutMs / 1_000} s`), timeoutMs);
    // The limits of a thread are for its heap alone; what is unpacked is in buffers beside it.
    const looks = setInterval(() => {
      worker.getHeapStatistics().then(({ used_heap_size: heap, external_memory: buffers }) => heap + buffers > memoryMiB * mebibyte && stop(tooLarge), () => undefined);
    }, lookMs);
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    hearEnd(stop);
    worker.postMessage(file);
  });
}
