import type { Digest } from "./json.ts";

/**
 * Bytes by digest: large values and artifacts. Written once, never changed.
 *
 * - `put` resolves when the bytes are durable; storing the same bytes twice is one blob.
 * - `get` resolves to undefined for a digest that is not there (pruned, erased).
 * - A tenant never sees a blob of another, even with its digest.
 */
export interface Blobs {
  put(tenant: string, bytes: Uint8Array): Promise<Digest>;
  get(tenant: string, digest: Digest): Promise<Uint8Array | undefined>;
  delete(tenant: string, digest: Digest): Promise<void>;
}
