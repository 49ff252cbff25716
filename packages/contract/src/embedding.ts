import type { SearchIndexStore } from "./search-index-store.ts";

/** Turns texts into vectors, so that tools are found that mean what is asked in other words. */
export interface EmbeddingProvider {
  /** Names what makes the vectors, with everything that changes them. Vectors of two names are never compared. */
  readonly model: string;
  /** Numbers of each vector. */
  readonly dimensions: number;
  /**
   * One vector for each text, in their order. May reject: whoever asked then goes by words. Once `signal` aborts nobody waits for
   * the answer any more.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly ArrayLike<number>[]>;
}

/** How a gate searches by meaning as well as by words. */
export interface SearchEmbedding {
  readonly provider: EmbeddingProvider;
  /** Keeps the vectors of tools, each under the digest of its definition. Default: in memory. */
  readonly store?: SearchIndexStore;
  /** How long a search waits for vectors before it goes by words alone. Default 2,000. */
  readonly timeoutMs?: number;
  /** How long the provider may take for one request of tools, which nobody waits for. Default 60,000. */
  readonly toolTimeoutMs?: number;
  /** Texts of one request. Default 64. */
  readonly batchTexts?: number;
  /** Texts that are sent in the life of a gate, tools and queries together; beyond it words alone are compared. Default 50,000. */
  readonly maxTexts?: number;
  /** Hears why the provider's vectors cannot be had, for people; a caller is only told that they cannot. Must not throw. */
  readonly onFault?: (fault: unknown) => void;
}
