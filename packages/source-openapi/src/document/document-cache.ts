import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConvertedDocument } from "../convert/convert-document.ts";
import { isRecord, own } from "./local-reference.ts";
import { digestOf } from "./load-document.ts";
import type { DocumentPart } from "./load-document.ts";

/** Counted up with every change of what a conversion gives, so that older entries are not taken. */
const converterVersion = 1;

export interface CachedDocument {
  readonly parts: readonly DocumentPart[];
  /** When its parts were read, milliseconds since 1970. */
  readonly readAtMs: number;
  readonly converted: ConvertedDocument;
}

/** What documents were converted to, by where they are from. One file a document; it can be deleted at any time. */
export interface DocumentCache {
  /** Undefined where there is nothing, or nothing that can be read. Whether it is still right, the parts' digests say. */
  get(location: string): Promise<CachedDocument | undefined>;
  /** Failing to write costs a conversion at the next start, nothing else. */
  set(location: string, entry: CachedDocument): Promise<void>;
}

/** @param folder made where it is missing, only for its owner; undefined: nothing is kept */
export function createDocumentCache(folder: string | undefined): DocumentCache {
  const fileOf = (location: string): string => join(folder ?? "", `${digestOf(location).slice(0, 32)}.json`);
  return {
    async get(location) {
      if (folder === undefined) return undefined;
      try {
        const entry: unknown = JSON.parse(await readFile(fileOf(location), "utf8"));
        if (!isRecord(entry) || own(entry, "version") !== converterVersion || own(entry, "location") !== location) return undefined;
        return entry as unknown as CachedDocument;
      } catch {
        return undefined;
      }
    },
    async set(location, entry) {
      if (folder === undefined) return;
      const file = fileOf(location);
      const draft = `${file}.${process.pid}.${entry.readAtMs}`;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(draft, JSON.stringify({ version: converterVersion, location, ...entry }), { mode: 0o600 });
        await rename(draft, file);
      } catch {
        await rm(draft, { force: true }).catch(() => undefined);
      }
    },
  };
}
