import type { DocumentRows } from "./table/document-table.ts";

/** A folder of documents that becomes a source of tools. */
export interface DocumentsSourceOptions {
  /** Module name for its tools, before the naming rule. */
  readonly namespace: string;
  /** Relative to the working directory. It may be a link; links within it are not followed. */
  readonly folder: string;
  /** Only these files, as patterns from the folder on: `["**\/*.md"]`. Default: all of a format that can be read. */
  readonly include?: readonly string[];
  /** Not these. What begins with a dot, `node_modules`, keys and exported credentials are never read. */
  readonly exclude?: readonly string[];
  /** One line on what is in it. Default: how many documents there are. */
  readonly purpose?: string;
  /** Where the index is kept, so that a start reads only what has changed. Default: nowhere, it is in memory. */
  readonly cacheFolder?: string;
  /** Documents at most; the rest is left out and said. Default 20,000. */
  readonly maxFiles?: number;
  /** A larger file is not read. Default 32 MiB. */
  readonly maxFileBytes?: number;
  /** Text of one document, in UTF-16 characters; what is beyond is left out and said. Default 2,000,000. */
  readonly maxTextChars?: number;
  /** Time to make text of one file. Default 30,000. */
  readonly readTimeoutMs?: number;
  /** Memory to make text of one file. Default 512. */
  readonly readMemoryMiB?: number;
  /** How long a search waits for files that are being read before it answers with those that have been. Default 10,000. */
  readonly waitMs?: number;
}

/** Rows of a table that become a source of tools. */
export interface TableDocumentsOptions extends Pick<DocumentsSourceOptions, "namespace" | "purpose" | "cacheFolder" | "maxFiles" | "maxTextChars" | "waitMs"> {
  /** Closed with the source. */
  readonly rows: DocumentRows;
  /** Tells tables apart that are kept in one `cacheFolder`: the database without its password, the table, its columns. */
  readonly cacheKey: string;
  /** The table is not read again sooner. Default 60,000. */
  readonly refreshMs?: number;
}

export const documentDefaults = {
  maxFiles: 20_000,
  maxFileBytes: 32 * 1024 * 1024,
  maxTextChars: 2_000_000,
  readTimeoutMs: 30_000,
  readMemoryMiB: 512,
  waitMs: 10_000,
} as const;
