import { createHash } from "node:crypto";
import type { Blobs, Digest } from "@callgate/contract";

/** Blobs of one test; `kept` shows what is there, by `<tenant> <digest>`. */
export interface MemoryBlobs extends Blobs {
  readonly kept: ReadonlyMap<string, Uint8Array>;
}

export function memoryBlobs(): MemoryBlobs {
  const kept = new Map<string, Uint8Array>();
  return {
    kept,
    put(tenant, bytes) {
      const digest: Digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
      kept.set(`${tenant} ${digest}`, bytes);
      return Promise.resolve(digest);
    },
    get: (tenant, digest) => Promise.resolve(kept.get(`${tenant} ${digest}`)),
    delete: (tenant, digest) => Promise.resolve(void kept.delete(`${tenant} ${digest}`)),
  };
}
