import { createHmac, randomBytes } from "node:crypto";
import { chmod, link, open, readFile, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { CallgateError } from "@callgate/contract";
import { makePrivateFolder } from "../lib/make-private-folder.ts";
import { createSealedBox } from "./sealed-box.ts";
import type { SealedBox } from "./sealed-box.ts";

/** The key of one installation. Run keys are wrapped by it; it never encrypts values itself. */
export interface MasterKey {
  /** 16 hex digits that name the key without telling it. */
  readonly id: string;
  /** Wraps and unwraps run keys. */
  readonly box: SealedBox;
  /** A 32 byte key for another purpose, e.g. `redactor`. Stable for equal purposes. */
  derive(purpose: string): Uint8Array;
}

const KEY_BYTES = 32;

/** Makes a master key of 32 bytes. Errors: ASSERTION for another length. */
export function createMasterKey(bytes: Uint8Array): MasterKey {
  if (bytes.length !== KEY_BYTES) throw new CallgateError("ASSERTION", `A master key has ${KEY_BYTES} bytes, not ${bytes.length}`);
  const derive = (purpose: string): Buffer => createHmac("sha256", bytes).update(`callgate:${purpose}`).digest();
  return { id: derive("id").toString("hex").slice(0, 16), box: createSealedBox(derive("wrap")), derive };
}

/**
 * Reads the master key kept at `path`, or makes one when there is none.
 *
 * The file is 64 hex digits, readable by its owner only. Of several processes that start at once all get the same key:
 * the file appears whole or not at all, and the first one stays. `created` is true for the process that made it.
 *
 * Errors: JOURNAL_UNAVAILABLE when the file is no key, or can neither be read nor made.
 */
export async function openMasterKey(path: string): Promise<{ readonly key: MasterKey; readonly created: boolean }> {
  try {
    const kept = await readKey(path);
    if (kept !== undefined) return { key: createMasterKey(kept), created: false };
    const made = randomBytes(KEY_BYTES);
    const created = await writeKey(path, made);
    const winner = created ? made : await readKey(path);
    if (winner === undefined) throw new Error("the key file disappeared while it was read");
    return { key: createMasterKey(winner), created };
  } catch (error) {
    if (CallgateError.is(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CallgateError("JOURNAL_UNAVAILABLE", `Cannot open the journal's key at ${path}: ${why}. Nothing was recorded; make room there, make the folder writable, or set another state folder`, { cause: error, details: { path } });
  }
}

async function readKey(path: string): Promise<Buffer | undefined> {
  let text: string;
  try {
    text = (await readFile(path, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new CallgateError(
      "JOURNAL_UNAVAILABLE",
      `Cannot use ${path}: it does not hold a key (64 hex digits). Restore it from a backup, or move it away to start with a new key; clear values recorded so far are then lost`,
      { details: { path } },
    );
  }
  await chmod(path, 0o600).catch(() => undefined); // A read-only disk keeps the mode it has.
  return Buffer.from(text, "hex");
}

/** False when another process was first. `link` is the atomic step: it never replaces a file. */
async function writeKey(path: string, key: Buffer): Promise<boolean> {
  makePrivateFolder(dirname(path));
  const staged = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const file = await open(staged, "wx", 0o600);
  try {
    await file.writeFile(`${key.toString("hex")}\n`);
    await file.sync();
  } catch (error) {
    await unlink(staged).catch(() => undefined); // What made writing fail counts more.
    throw error;
  } finally {
    await file.close();
  }
  try {
    await link(staged, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(staged);
  }
}
