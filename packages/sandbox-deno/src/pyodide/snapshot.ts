import { createHash, randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { LaunchedGuest } from "@callgate/sandbox-process";
import type { PyodideFiles } from "./pyodide-files.ts";

const digestBytes = 32;

/**
 * The memory of a started Python, in a file of the cache folder: made once, checked by its digest, replaced when it is
 * broken or when Deno, Pyodide or our own files change. Written aside and renamed, so that many processes may do it at once.
 *
 * The digest finds what broke; that nobody else made it is known by the folder, which only its owner may write to.
 *
 * @param build starts the guest that writes a snapshot to its stdout
 * @returns path of the file. Rejects when it can be neither made nor kept, or others may write to the folder.
 */
export async function ensureSnapshot(cacheFolder: string, files: PyodideFiles, build: () => LaunchedGuest): Promise<string> {
  await mkdir(cacheFolder, { recursive: true, mode: 0o700 });
  if (!isOwn(await stat(cacheFolder))) throw new Error("others may write there");
  const name = `pyodide-${files.version}-${await digestOfInputs(files)}.snapshot`;
  const path = join(cacheFolder, name);
  if (await isWhole(path)) return path;
  const guest = build();
  guest.commands.end();
  const [bytes, said, exit] = await Promise.all([buffer(guest.frames), buffer(guest.stderr), guest.exited]);
  if (exit.code !== 0 || bytes.length === 0) throw new Error(`the snapshot could not be made: ${said.toString("utf8").slice(0, 400) || `exit ${exit.code ?? exit.signal}`}`);
  await keep(path, bytes);
  return path;
}

/** Of us, and nobody else may write to it. Windows has no such bits; its folders of a user are theirs. */
function isOwn({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

async function isWhole(path: string): Promise<boolean> {
  try {
    const entry = await lstat(path);
    if (!entry.isFile() || !isOwn(entry)) return false;
    const file = await readFile(path);
    return digestOf(file.subarray(digestBytes)).equals(file.subarray(0, digestBytes));
  } catch {
    return false;
  }
}

async function keep(path: string, bytes: Uint8Array): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    const file = await open(aside, "wx", 0o600);
    try {
      await file.writeFile(digestOf(bytes));
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (fault) {
    await rm(aside, { force: true });
    throw fault;
  }
}

/** Of all that decides what is in a snapshot. */
async function digestOfInputs({ version, python }: PyodideFiles): Promise<string> {
  const { version: deno } = createRequire(import.meta.url)("deno/package.json") as { version: string };
  const hash = createHash("sha256").update(`${version}\0${deno}\0${process.arch}\0`);
  for (const file of [...python, new URL("../../guests/pyodide.js", import.meta.url)]) hash.update(await readFile(file)).update("\0");
  return hash.digest("hex").slice(0, 16);
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
