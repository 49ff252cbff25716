import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { Blobs, Digest } from "@callgate/contract";

export interface FileBlobsOptions {
  /** Made when it is not there, readable by its owner only. */
  readonly folder: string;
}

export interface FileBlobs extends Blobs {
  /**
   * Removes files that are none of `kept` and were neither stored nor stored again for `untouchedMs`: what a process
   * left that died between storing a blob and recording it. Resolves to how many.
   */
  sweep(kept: Iterable<{ readonly tenant: string; readonly digest: Digest }>, untouchedMs: number): Promise<number>;
}

/**
 * Blobs as files: `<folder>/<hash of the tenant>/<first two digits>/<digest>`.
 *
 * A blob appears whole or not at all (written beside, synced, renamed), and `get` checks the digest of what it read.
 * Bytes are stored as they come; the journal seals its values before.
 *
 * Errors: JOURNAL_UNAVAILABLE when the disk is full, read-only or failing; JOURNAL_CORRUPT from `get` for bytes that
 * are no longer those that were put.
 */
export function createFileBlobs({ folder }: FileBlobsOptions): FileBlobs {
  return {
    async put(tenant, bytes) {
      const digest: Digest = `sha256:${sha256(bytes)}`;
      const path = blobPath(folder, tenant, digest);
      try {
        if (!(await touch(path))) await writeWhole(path, bytes);
      } catch (error) {
        throw unavailable("Cannot store a blob", path, error);
      }
      return digest;
    },
    async get(tenant, digest) {
      if (!isDigest(digest)) return undefined;
      const path = blobPath(folder, tenant, digest);
      let bytes: Buffer;
      try {
        bytes = await readFile(path);
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw unavailable("Cannot read a blob", path, error);
      }
      if (`sha256:${sha256(bytes)}` !== digest) {
        throw new CallgateError("JOURNAL_CORRUPT", `Cannot read a blob: ${path} holds other bytes than were stored. Restore it from a backup, or delete it`, { details: { path } });
      }
      return bytes;
    },
    async delete(tenant, digest) {
      if (!isDigest(digest)) return;
      const path = blobPath(folder, tenant, digest);
      try {
        await rm(path, { force: true });
      } catch (error) {
        throw unavailable("Cannot delete a blob", path, error);
      }
    },
    async sweep(kept, untouchedMs) {
      const keptPaths = new Set<string>();
      for (const { tenant, digest } of kept) keptPaths.add(blobPath(folder, tenant, digest));
      // File times are the machine's, so age is measured on its clock.
      return await removeOthers(folder, keptPaths, Date.now() - untouchedMs);
    },
  };
}

async function removeOthers(folder: string, keptPaths: ReadonlySet<string>, beforeMs: number): Promise<number> {
  let removed = 0;
  try {
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const file of files) {
      const path = join(file.parentPath, file.name);
      if (!file.isFile() || keptPaths.has(path) || (await stat(path)).mtimeMs >= beforeMs) continue;
      await rm(path, { force: true });
      removed += 1;
    }
  } catch (error) {
    if (!isMissing(error)) throw unavailable("Cannot look through the blobs", folder, error);
  }
  return removed;
}

/** A tenant's name may be any text; its hash is a safe folder name and equal only for equal tenants. */
function blobPath(folder: string, tenant: string, digest: Digest): string {
  const hex = digest.slice("sha256:".length);
  return join(folder, sha256(Buffer.from(JSON.stringify(tenant))).slice(0, 32), hex.slice(0, 2), hex);
}

/** Anything else must not become a path. */
function isDigest(digest: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(digest);
}

/** True when the blob is there; its time then says that it is in use again. */
async function touch(path: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(path, now, now);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const staged = `${path}.${randomBytes(6).toString("hex")}.new`;
  try {
    const file = await open(staged, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(staged, path);
    await syncFolder(folder);
  } catch (error) {
    await rm(staged, { force: true }).catch(() => undefined); // The first error is the one to tell.
    throw error;
  }
}

/** Without it the name may be lost with the power although the bytes are not. Windows has no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

function unavailable(what: string, path: string, error: unknown): CallgateError {
  const why = error instanceof Error ? error.message : String(error);
  return new CallgateError("JOURNAL_UNAVAILABLE", `${what}: ${why}`, { cause: error, details: { path } });
}
