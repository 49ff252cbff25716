import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CallgateError } from "@callgate/contract";
import { makePrivateFolder } from "@callgate/runtime/journal";
import type { MasterKey } from "@callgate/runtime/journal";
import { createSealedBox, digestOf } from "@callgate/runtime/journal-parts";
import type { OAuthRecord, OAuthStore } from "@callgate/source-mcp";
import { withFileLock } from "../file-lock.ts";

export interface SignInFilesOptions {
  readonly stateFolder: string;
  /** Opened when first needed: most processes never ask for a token. */
  readonly key: () => Promise<MasterKey>;
}

/**
 * The sign-in at one server, encrypted under the master key in `<stateFolder>/sign-ins`, readable by its owner only. It is
 * bound to the URL: moved to another one's place it does not open.
 *
 * Errors: `CallgateError` SOURCE_FAILED for one that was sealed under another key, or is damaged.
 */
export function createSignInFile(url: string, { stateFolder, key }: SignInFilesOptions): OAuthStore {
  const folder = join(stateFolder, "sign-ins");
  const context = `sign-in ${addressOf(url)}`;
  const file = join(folder, `${digestOf(context).slice(7, 39)}.sealed`);
  const box = async () => createSealedBox((await key()).derive("sign-ins"));
  return {
    async read() {
      const sealed = await readFile(file).catch((error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? undefined : Promise.reject(error)));
      if (sealed === undefined) return undefined;
      const clear = (await box()).open(sealed, context);
      if (clear === undefined) throw new CallgateError("SOURCE_FAILED", `The sign-in in ${file} does not open: it was sealed under another key file, or is damaged. Sign in again with callgate auth login, or bring back the key file`, { details: { brief: "its sign-in cannot be read" } });
      return JSON.parse(clear.toString("utf8")) as OAuthRecord;
    },
    async write(record) {
      makePrivateFolder(folder);
      const draft = `${file}.${process.pid}.tmp`;
      await writeFile(draft, (await box()).seal(JSON.stringify(record), context), { mode: 0o600 });
      await rename(draft, file);
    },
    remove: () => rm(file, { force: true }),
    async exclusively(work) {
      makePrivateFolder(folder);
      return await withFileLock(`${file}.lock`, work);
    },
  };
}

/** Query and fragment are no part of what is signed in to. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
