import { createHash } from "node:crypto";
import type { Blobs, Digest } from "@callgate/contract";
import type { Database } from "./database.ts";

/** Blobs in the journal's own database, for machines that share nothing else. A blob is at most 1 GiB, better far less. */
export function createPostgresBlobs(database: Database): Blobs {
  return {
    async put(tenant, bytes) {
      const digest: Digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
      // Put again it is young again, so that a sweep leaves it alone until its entry is there.
      await database.query("full", "insert into callgate.blobs (tenant, digest, bytes) values ($1, $2, $3) on conflict (tenant, digest) do update set put_at = clock_timestamp()", [tenant, digest, bytes]);
      return digest;
    },
    async get(tenant, digest) {
      const row = (await database.read("select bytes from callgate.blobs where tenant = $1 and digest = $2", [tenant, digest]))[0];
      return row === undefined ? undefined : new Uint8Array(row["bytes"] as Uint8Array);
    },
    async delete(tenant, digest) {
      await database.query("lazy", "delete from callgate.blobs where tenant = $1 and digest = $2", [tenant, digest]);
    },
  };
}
