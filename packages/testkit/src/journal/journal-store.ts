import type { Blobs, Clock, Journal } from "@callgate/contract";
import type { ChildOpening } from "./journal-process.ts";

/** What goes wrong with a store when a test says so. */
export interface StoreFaults {
  /** From now on there is no room for more, until the returned function is called. */
  fillDisk(): Promise<() => Promise<void>>;
  /** Cuts every connection that is open to the store, before who has them can know. Absent: there are none to be cut. */
  readonly cutConnections?: () => void;
}

/** A column of a table, with its type as SQL has it. */
export interface StoreColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** One store, empty at first. The suite opens it as often as it likes. */
export interface JournalStore {
  /**
   * Opens the journal once more on the same store, as another user of it would. `clock` is then its time; `keyByte` makes
   * its master key another one than usual. The suite closes it.
   */
  open(clock?: Clock, keyByte?: number): Promise<Journal>;
  readonly blobs: Blobs;
  /** Every byte that is kept, files and blobs together, to search for what must not be readable there. */
  bytes(): Promise<Buffer>;
  /** Changes the store behind the journal's back: one statement of SQL, its tables named without a schema. */
  edit(statement: string): Promise<void>;
  /** All columns of all tables, views left out. */
  columns(): Promise<readonly StoreColumn[]>;
  readonly faults: StoreFaults;
  /** The condition that finds the row of `entries` of that run that begins at that position. */
  rowAt(runId: string, position: number): string;
  /** A backup of the store as it is, restored elsewhere. The suite disposes of it. */
  copy(): Promise<JournalStore>;
  /** How a process of its own opens the same store. */
  readonly child: ChildOpening;
  dispose(): Promise<void>;
}
