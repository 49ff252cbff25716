import { createHash } from "node:crypto";
import type { DocumentFolder } from "../folder/document-folder.ts";
import { orAborted } from "../folder/file-queue.ts";
import type { DocumentIndex } from "../index/document-index.ts";
import { splitPassages } from "../reader/split-passages.ts";

/** A row as a document. */
export interface DocumentRow {
  /** Names it among the others: what `read` takes. */
  readonly document: string;
  readonly title: string;
  /** Its text, by columns. */
  readonly sections: readonly { readonly heading: string; readonly text: string }[];
}

/** Where rows come from. */
export interface DocumentRows {
  /** For people, without secrets: which table of which database. */
  readonly label: string;
  /** All rows, some at a time. Rejects where they cannot be read. */
  read(signal: AbortSignal): AsyncIterable<readonly DocumentRow[]>;
  close(): Promise<void>;
}

export interface TableParts {
  readonly rows: DocumentRows;
  readonly maxRows: number;
  readonly maxTextChars: number;
  /** The table is not read again sooner. */
  readonly refreshMs: number;
  readonly index: () => DocumentIndex;
}

/** What stands for the time of a row that is being read. */
const readingOne = 1;

/**
 * A table as the folder of its rows. No database tells alike what has changed, so all rows are read again, not oftener than every
 * `refreshMs`; only those whose text is another are taken into the index anew.
 */
export function createDocumentTable(parts: TableParts): DocumentFolder {
  const closing = new AbortController();
  let reading: Promise<void> | undefined;
  let readMs = Number.NEGATIVE_INFINITY;
  let problems: readonly string[] = [];
  let listener = (): void => undefined;

  async function readAll(): Promise<void> {
    const found = await takeIn(parts, closing.signal);
    problems = found.isCut ? [`only the first ${parts.maxRows} rows are searched (maxFiles)`] : [];
    readMs = performance.now();
    listener();
  }
  const fresh = (): Promise<void> | undefined => {
    if (performance.now() - readMs < parts.refreshMs) return undefined;
    reading ??= readAll().finally(() => (reading = undefined));
    return reading;
  };

  return {
    get waiting() {
      return reading === undefined ? 0 : readingOne;
    },
    get problems() {
      return problems;
    },
    onSettled: (fire) => void (listener = fire),
    async follow(waitMs, signal) {
      signal.throwIfAborted();
      const work = fresh();
      if (work === undefined) return;
      const enough = AbortSignal.timeout(waitMs);
      await orAborted(work, AbortSignal.any([signal, closing.signal, enough])).catch((fault: unknown) => {
        // What has been read by now can be searched; what fails later is told by the next use.
        if (signal.aborted || closing.signal.aborted || !enough.aborted) throw fault;
        work.catch(() => undefined);
      });
    },
    async followOne(_document, signal) {
      const work = fresh();
      if (work !== undefined) await orAborted(work, AbortSignal.any([signal, closing.signal]));
    },
    async close() {
      closing.abort(new Error("the source was closed"));
      await Promise.allSettled([reading]);
      await parts.rows.close();
    },
  };
}

async function takeIn({ rows, maxRows, maxTextChars, index }: TableParts, signal: AbortSignal): Promise<{ readonly isCut: boolean }> {
  const before = new Map(index().known().map((known) => [known.path, known]));
  const seen = new Set<string>();
  for await (const page of rows.read(signal)) {
    for (const row of page) {
      if (seen.size >= maxRows) return { isCut: true };
      signal.throwIfAborted();
      seen.add(row.document);
      const digest = createHash("sha256").update(JSON.stringify([row.title, row.sections])).digest("hex");
      if (before.get(row.document)?.digest === digest) continue;
      const { passages, isCut } = splitPassages(row.sections, maxTextChars);
      const last = passages.at(-1);
      const chars = last === undefined ? 0 : last.start + last.body.length;
      await index().replace({ path: row.document, bytes: Buffer.byteLength(row.sections.map(({ text }) => text).join("")), modifiedMs: Date.now(), digest, title: row.title, chars, problem: isCut ? `its text is cut after ${maxTextChars} characters (maxTextChars)` : undefined }, passages);
    }
  }
  // Only once all rows were read is one that was not among them gone.
  for (const path of before.keys()) if (!seen.has(path)) index().remove(path);
  return { isCut: false };
}
