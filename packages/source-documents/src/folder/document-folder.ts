import { createHash } from "node:crypto";
import { basename, extname } from "node:path";
import type { DocumentIndex, KnownDocument } from "../index/document-index.ts";
import type { DocumentReader } from "../reader/document-reader.ts";
import type { Passage } from "../reader/split-passages.ts";
import { createFileQueue, orAborted } from "./file-queue.ts";
import type { FileQueue } from "./file-queue.ts";
import type { FolderRules } from "./folder-rules.ts";
import { readFileWithin } from "./read-file-within.ts";
import { scanFolder } from "./scan-folder.ts";
import type { FolderScan, FoundFile } from "./scan-folder.ts";

export interface FolderBounds {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxTextChars: number;
}

export interface FolderParts {
  readonly folder: string;
  readonly rules: FolderRules;
  readonly bounds: FolderBounds;
  readonly index: () => DocumentIndex;
  readonly reader: DocumentReader;
}

/** A folder and its index, which follows it. */
export interface DocumentFolder {
  /** Looks for what changed, unless it has just been looked at, and waits until it is in the index, or for `waitMs`. Rejects where the folder cannot be listed, and with the signal's reason. */
  follow(waitMs: number, signal: AbortSignal): Promise<void>;
  /** Waits until one document is in the index as it is now. */
  followOne(path: string, signal: AbortSignal): Promise<void>;
  /** Documents that are still to be read. */
  readonly waiting: number;
  /** Of the folder; those of documents are in the index. */
  readonly problems: readonly string[];
  /** Called when everything has been read. */
  onSettled(listener: () => void): void;
  close(): Promise<void>;
}

/** A folder is not looked at again sooner. */
const freshMs = 1_000;
/** In place of the digest of bytes that nobody has seen. */
const unread = "";

export function createDocumentFolder(parts: FolderParts): DocumentFolder {
  const queue = createFileQueue();
  const closing = new AbortController();
  let scan: FolderScan | undefined;
  let scanning: Promise<void> | undefined;
  let working: Promise<void> | undefined;
  let scannedMs = Number.NEGATIVE_INFINITY;
  let trouble: readonly string[] | undefined;
  let listener = (): void => undefined;
  const work = async (): Promise<void> => {
    trouble = undefined;
    for (let next = queue.next(); next !== undefined && scan !== undefined && !closing.signal.aborted; next = queue.next()) {
      try {
        await takeIn(parts, { root: scan.root, found: next, signal: closing.signal });
      } catch (fault) {
        if (!closing.signal.aborted) trouble = [`${next.path}: it could not be taken into the index (${fault instanceof Error ? fault.message : String(fault)})`];
      }
      queue.done(next);
    }
    working = undefined;
    listener();
  };
  const look = async (): Promise<void> => {
    const found = await scanFolder(parts.folder, parts.rules, parts.bounds.maxFiles);
    if (closing.signal.aborted) return;
    scan = found;
    const { changed, gone } = compare(found.files, parts.index().known());
    gone.forEach((path) => parts.index().remove(path));
    queue.fill(changed);
    scannedMs = performance.now();
    if (queue.size > 0) working ??= work();
  };
  const looked = async (signal: AbortSignal): Promise<void> => {
    if (performance.now() - scannedMs < freshMs) return signal.throwIfAborted();
    scanning ??= look().finally(() => (scanning = undefined));
    await orAborted(scanning, AbortSignal.any([signal, closing.signal]));
  };
  return {
    get waiting() {
      return queue.size;
    },
    get problems() {
      return [...(scan?.problems ?? []), ...(trouble ?? [])];
    },
    onSettled: (fire) => (listener = fire),
    async follow(waitMs, signal) {
      await looked(signal);
      await untilEmpty(queue, waitMs, AbortSignal.any([signal, closing.signal]));
    },
    async followOne(path, signal) {
      await looked(signal);
      queue.hurry(path);
      await queue.until(() => !queue.has(path), AbortSignal.any([signal, closing.signal]));
    },
    async close() {
      closing.abort(new Error("the source was closed"));
      await Promise.allSettled([parts.reader.close(), scanning, working]);
    },
  };
}

/** Or for so long. */
async function untilEmpty(queue: FileQueue, waitMs: number, signal: AbortSignal): Promise<void> {
  const enough = AbortSignal.timeout(waitMs);
  await queue.until(() => queue.size === 0, AbortSignal.any([signal, enough])).catch((fault: unknown) => {
    if (signal.aborted) throw fault;
  });
}

function compare(files: readonly FoundFile[], known: readonly KnownDocument[]): { readonly changed: readonly FoundFile[]; readonly gone: readonly string[] } {
  const before = new Map(known.map((document) => [document.path, document]));
  const now = new Set(files.map(({ path }) => path));
  const isSame = ({ path, bytes, modifiedMs }: FoundFile): boolean => {
    const one = before.get(path);
    // What could not be opened is tried again: rights change without the file's time.
    return one?.bytes === bytes && one.modifiedMs === modifiedMs && one.digest !== unread;
  };
  return { changed: files.filter((file) => !isSame(file)), gone: known.map(({ path }) => path).filter((path) => !now.has(path)) };
}

interface Taking {
  readonly root: string;
  readonly found: FoundFile;
  readonly signal: AbortSignal;
}

/** Reads a file whose size or time has changed; where its bytes have not, nothing is read anew. Rejects with what the index throws. */
async function takeIn({ bounds, reader, index }: FolderParts, { root, found, signal }: Taking): Promise<void> {
  const { path, bytes, modifiedMs } = found;
  const file = await readFileWithin(root, path, bounds.maxFileBytes).catch((fault: unknown) => ({ kind: "refused", reason: `it cannot be opened (${fault instanceof Error && "code" in fault ? String(fault.code) : "unknown"})` }) as const);
  const before = index().find(path);
  const keep = async (document: Pick<KnownDocument, "digest" | "problem"> & Partial<KnownDocument>, passages: readonly Passage[] = []): Promise<void> => {
    if (!signal.aborted) await index().replace({ path, bytes, modifiedMs, title: basename(path), chars: 0, ...document }, passages);
  };
  if (file.kind === "refused") return before?.digest === unread && before.problem === file.reason && before.modifiedMs === modifiedMs ? undefined : await keep({ digest: unread, problem: file.reason });
  const digest = createHash("sha256").update(file.bytes).digest("hex");
  if (before?.digest === digest && before.bytes === bytes) return index().touch(path, modifiedMs);
  const read = await reader.read({ bytes: file.bytes, extension: extname(path).toLowerCase(), maxTextChars: bounds.maxTextChars });
  if (read.kind === "unreadable") return await keep({ digest, problem: read.reason });
  const last = read.passages.at(-1);
  const problem = read.isCut ? `its text is cut after ${bounds.maxTextChars} characters (maxTextChars)` : undefined;
  await keep({ digest, problem, chars: last === undefined ? 0 : last.start + last.body.length, ...(read.title === undefined ? {} : { title: read.title }) }, read.passages);
}
