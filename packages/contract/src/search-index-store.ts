/**
 * Where the words of a catalog's tools are kept between processes, so that a large one is searched without reading all of it
 * again. All of them are synchronous: they are needed in the middle of a first search.
 */
export interface SearchIndexStore {
  /** What was written last; undefined where there is nothing, or it cannot be read. Must not throw. */
  read(): Uint8Array | undefined;
  /** In place of what was there, as a whole or not at all. Must not throw: what is not kept is made again. */
  write(bytes: Uint8Array): void;
  /** What was read cannot be used and is made again; `why` is a clause. Must not throw. */
  damaged(why: string): void;
}
