import { readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { CallgateError } from "@callgate/contract";
import { makePrivateFolder } from "@callgate/runtime/journal";
import { z } from "zod";

const trustFile = z.strictObject({ folders: z.array(z.strictObject({ path: z.string(), trustedAt: z.string() })) });

/** The folders whose code and configuration a person agreed to load. */
export interface TrustStore {
  /** True for a trusted folder and everything below it. */
  has(folder: string): boolean;
  add(folder: string): void;
  /** Returns whether it was there. */
  remove(folder: string): boolean;
  list(): readonly { readonly path: string; readonly trustedAt: string }[];
}

/**
 * Trust kept in `<stateFolder>/trust.json`, readable by its owner only. Folders are compared by their real path, so a
 * link cannot borrow the trust of its neighbour.
 *
 * Errors: `CallgateError` CONFIG_INVALID when the file is damaged (nothing is trusted then), NOT_TRUSTED never.
 */
export function createTrustStore(stateFolder: string, now: () => Date = () => new Date()): TrustStore {
  const file = join(stateFolder, "trust.json");
  const read = () => readTrust(file);
  const write = (folders: z.infer<typeof trustFile>["folders"]) => {
    makePrivateFolder(dirname(file));
    const draft = `${file}.${process.pid}.tmp`;
    writeFileSync(draft, `${JSON.stringify({ folders }, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  };
  return {
    has(folder) {
      const path = real(folder);
      return path !== undefined && read().some((trusted) => path === trusted.path || path.startsWith(trusted.path + sep));
    },
    add(folder) {
      const path = real(folder);
      if (path === undefined) throw new CallgateError("USAGE", `Cannot trust ${folder}: there is no such folder`);
      const folders = read();
      if (!folders.some((trusted) => trusted.path === path)) write([...folders, { path, trustedAt: now().toISOString() }]);
    },
    remove(folder) {
      const path = real(folder) ?? folder;
      const folders = read();
      const kept = folders.filter((trusted) => trusted.path !== path);
      if (kept.length !== folders.length) write(kept);
      return kept.length !== folders.length;
    },
    list: read,
  };
}

function readTrust(file: string): z.infer<typeof trustFile>["folders"] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  try {
    return trustFile.parse(JSON.parse(text)).folders;
  } catch (cause) {
    throw new CallgateError("CONFIG_INVALID", `${file} is damaged, so no folder is trusted; delete it and run callgate trust again`, { cause });
  }
}

function real(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}
