import type { SearchIndexStore } from "@callgate/contract";
import { createStateFile } from "./state-file.ts";
import type { StateFileOptions } from "./state-file.ts";

export interface SearchIndexFileOptions extends Omit<StateFileOptions, "place" | "suffix"> {
  /** What of the tools is kept. Default: their words. */
  readonly kept?: "vectors";
}

/**
 * The words of the tools of a configuration, or their vectors, in the folder where the gate keeps its own files, readable by the user alone.
 * One that is damaged is told to `onFault`, as is what cannot be read or written; the search works all the same.
 */
export function createSearchIndexFile({ kept, ...options }: SearchIndexFileOptions): SearchIndexStore {
  const file = createStateFile({ ...options, place: "search-index", suffix: kept === undefined ? "" : `-${kept}` });
  return {
    read: () => file.read(),
    write: (bytes) => file.write(bytes),
    damaged: (why) => options.onFault?.(new Error(`The search index ${file.path} cannot be used, and is made again: ${why}`)),
  };
}
