import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SearchIndexStore } from "@callgate/contract";
import { makePrivateFolder } from "@callgate/runtime/journal";

export interface SearchIndexFileOptions {
  readonly stateFolder: string;
  /** Of the configuration. */
  readonly folder: string;
  /** What of the tools is kept. Default: their words. */
  readonly kept?: "vectors";
  readonly onFault?: ((fault: unknown) => void) | undefined;
}

/**
 * The words of the tools of a configuration, or their vectors, in the folder where the gate keeps its own files, readable by the user alone.
 * One that is damaged is told to `onFault`, as is what cannot be read or written; the search works all the same.
 */
export function createSearchIndexFile({ stateFolder, folder, kept, onFault }: SearchIndexFileOptions): SearchIndexStore {
  const place = join(stateFolder, "search-index");
  const file = join(place, createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 16) + (kept === undefined ? "" : `-${kept}`));
  const guarded = <Value>(work: () => Value): Value | undefined => {
    try {
      return work();
    } catch (fault) {
      onFault?.(fault);
      return undefined;
    }
  };
  return {
    read: () => guarded(() => (existsSync(file) ? readFileSync(file) : undefined)),
    write(bytes) {
      guarded(() => {
        makePrivateFolder(place);
        const draft = `${file}.${process.pid}`;
        try {
          writeFileSync(draft, bytes, { mode: 0o600 });
          renameSync(draft, file);
        } finally {
          rmSync(draft, { force: true });
        }
      });
    },
    damaged: (why) => onFault?.(new Error(`The search index ${file} cannot be used, and is made again: ${why}`)),
  };
}
