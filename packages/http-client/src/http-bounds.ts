/** How long a request may take, and how much its answer may be. Each has its own words in the failure. */
export interface HttpBounds {
  /** To look the name up, connect and shake hands, for each address of the name. */
  readonly connectMs: number;
  /** From the request to the head of its answer. */
  readonly firstByteMs: number;
  /** Between two pieces of the body. */
  readonly idleMs: number;
  /** From the request to the end of the answer, redirects included. */
  readonly totalMs: number;
  /** Of the body, unpacked: counted while it is read, so that a small answer that unpacks to a large one ends at the bound. */
  readonly responseBytes: number;
  /** Redirects followed one after the other. */
  readonly redirects: number;
}

export const defaultHttpBounds: HttpBounds = {
  connectMs: 10_000,
  firstByteMs: 60_000,
  idleMs: 30_000,
  totalMs: 300_000,
  responseBytes: 32 * 1024 * 1024,
  redirects: 5,
};
