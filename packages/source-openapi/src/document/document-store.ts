import { convertDocument } from "../convert/convert-document.ts";
import type { ConvertedDocument } from "../convert/convert-document.ts";
import type { CachedDocument, DocumentCache } from "./document-cache.ts";
import { isUrl } from "./document-reader.ts";
import { stampOf } from "./file-stamp.ts";
import { digestOf, loadDocument } from "./load-document.ts";
import type { DocumentPart, ReadPart } from "./load-document.ts";
import type { StampedPart } from "./watch-parts.ts";

export interface DocumentStoreOptions {
  /** Absolute path or URL. */
  readonly location: string;
  readonly read: ReadPart;
  readonly cache: DocumentCache;
  /** How old what was read from a URL may get before it is read again. */
  readonly refreshMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface StoredDocument {
  readonly converted: ConvertedDocument;
  /** As they were before they were read: whoever watches them misses nothing. */
  readonly parts: readonly StampedPart[];
  /** Why it is not the newest: what is there now cannot be read or used. */
  readonly stale?: string;
}

/** A document as tools, converted when it changes and not before. */
export interface DocumentStore {
  /**
   * What the document is now. Files are looked at each time; URLs once in `refreshMs`. Where a document that worked cannot
   * be had any more, the last one goes on working, and `stale` says why.
   *
   * Errors: `Error` that says why there is nothing.
   */
  get(signal: AbortSignal): Promise<StoredDocument>;
}

interface Held {
  readonly entry: CachedDocument;
  readonly parts: readonly StampedPart[];
}

export function createDocumentStore(options: DocumentStoreOptions): DocumentStore {
  const { location, cache } = options;
  let held: Held | undefined;
  const stampsOf = async (parts: readonly DocumentPart[]): Promise<readonly StampedPart[]> => await Promise.all(parts.map(async (part) => ({ location: part.location, stamp: await stampOf(part.location) })));
  const hold = (entry: CachedDocument, parts: readonly StampedPart[]): StoredDocument => {
    held = { entry, parts };
    return { converted: entry.converted, parts };
  };
  return {
    async get(signal) {
      if (held !== undefined && isFresh(held.entry, options) && same(held.parts, await stampsOf(held.entry.parts))) return { converted: held.entry.converted, parts: held.parts };
      const kept = held?.entry ?? (await cache.get(location));
      if (kept !== undefined && isFresh(kept, options)) {
        const before = await stampsOf(kept.parts);
        if (await isUnchanged(kept, options, signal)) return hold(kept, before);
      }
      try {
        const { entry, parts } = await convert(kept, options, signal);
        await cache.set(location, entry);
        return hold(entry, parts);
      } catch (fault) {
        signal.throwIfAborted();
        // A file that is broken when a process starts is told at once: who broke it is there. A service that is away is not.
        const last = held?.entry ?? (isUrl(location) ? kept : undefined);
        if (last === undefined) throw fault;
        return { converted: last.converted, parts: await stampsOf(last.parts), stale: fault instanceof Error ? fault.message : String(fault) };
      }
    },
  };
}

/** Reads all, and converts it unless it is what is kept. */
async function convert(kept: CachedDocument | undefined, { location, read, now }: DocumentStoreOptions, signal: AbortSignal): Promise<Held> {
  const stamps = new Map<string, string | undefined>();
  const stamped: ReadPart = async (part, aborted) => {
    stamps.set(part, await stampOf(part));
    return await read(part, aborted);
  };
  const { document, parts, problems } = await loadDocument(location, stamped, signal);
  const isSame = kept !== undefined && JSON.stringify(kept.parts) === JSON.stringify(parts);
  const converted = isSame ? kept.converted : withProblems(convertDocument(document), problems);
  return { entry: { parts, readAtMs: now(), converted }, parts: parts.map((part) => ({ location: part.location, stamp: stamps.get(part.location) })) };
}

function withProblems(converted: ConvertedDocument, problems: ConvertedDocument["problems"]): ConvertedDocument {
  return { ...converted, problems: [...problems, ...converted.problems] };
}

function isFresh({ parts, readAtMs }: CachedDocument, { refreshMs, now }: DocumentStoreOptions): boolean {
  const ageMs = now() - readAtMs;
  return parts.every(({ location }) => !isUrl(location)) || (ageMs >= 0 && ageMs < refreshMs);
}

/** By what is in the files: a copy, a checkout or a touch changes times and nothing else. */
async function isUnchanged({ parts }: CachedDocument, { read }: DocumentStoreOptions, signal: AbortSignal): Promise<boolean> {
  for (const { location, digest } of parts) {
    if (isUrl(location)) continue;
    const text = await read(location, signal).catch(() => undefined);
    if (text === undefined || digestOf(text) !== digest) return false;
  }
  return parts.length > 0;
}

function same(some: readonly StampedPart[], others: readonly StampedPart[]): boolean {
  return some.length === others.length && some.every(({ stamp }, index) => stamp !== undefined && stamp === others[index]?.stamp);
}
