import { createHash } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { Blobs, Digest } from "@callgate/contract";
import type { Database } from "./database.ts";

/** Blobs in the journal's own database, for machines that share nothing else. A blob is at most 1 GiB, better far less. */
export function createPostgresBlobs(database: Database): Blobs {
  return {
    async put(tenant, bytes) {
      const digest = digestOf(bytes);
      // Put again it is young again, so that a sweep leaves it alone until its entry is there.
      await database.query("full", "insert into callgate.blobs (tenant, digest, bytes) values ($1, $2, $3) on conflict (tenant, digest) do update set put_at = clock_timestamp()", [tenant, digest, bytes]);
      return digest;
    },
    async get(tenant, digest) {
      const row = (await database.read("select bytes from callgate.blobs where tenant = $1 and digest = $2", [tenant, digest]))[0];
      if (row === undefined) return undefined;
      const bytes = new Uint8Array(row["bytes"] as Uint8Array);
      // The record holds the digest; the bytes are in no chain.
      if (digestOf(bytes) !== digest) throw new CallgateError("JOURNAL_CORRUPT", `Cannot read a blob: ${digest} holds other bytes in callgate.blobs than were stored. Restore it from a backup, or delete it`, { details: { digest } });
      return bytes;
    },
    async delete(tenant, digest) {
      await database.query("lazy", "delete from callgate.blobs where tenant = $1 and digest = $2", [tenant, digest]);
    },
  };
}

function digestOf(bytes: Uint8Array): Digest {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
