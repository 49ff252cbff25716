import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CallgateError } from "@callgate/contract";

/**
 * Makes a folder that only its owner may enter, and those above it that are missing. One that is there stays as it is.
 *
 * Level by level: Node's recursive mkdir never returns where a folder is there but nothing can be made in it (/proc).
 *
 * Errors: JOURNAL_UNAVAILABLE, which names the folder.
 */
export function makePrivateFolder(path: string): void {
  try {
    make(resolve(path));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CallgateError("JOURNAL_UNAVAILABLE", `Cannot use ${path} as a folder for Callgate's own files: ${why}. Nothing was recorded; make it a folder that you may write to, or set another state folder (XDG_STATE_HOME, stateFolder)`, { cause: error, details: { path } });
  }
}

function make(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statSync(path).isDirectory()) return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    make(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}
