import { readFileSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { SealedApproverKey } from "@callgate/runtime/broker";
import { z } from "zod";

const base64url = z.string().regex(/^[\w-]+$/);

const sealedKey = z.strictObject({
  form: z.literal("callgate-approver-1"),
  by: z.string().min(1),
  publicKey: base64url,
  kdf: z.strictObject({ name: z.literal("scrypt"), log2N: z.int().positive(), r: z.int().positive(), p: z.int().positive(), salt: base64url }),
  sealed: z.strictObject({ iv: base64url, tag: base64url, text: base64url }),
});

/** Where the key of this user is, if there is one. */
function approverFile(stateFolder: string): string {
  return join(stateFolder, "approver.json");
}

/** The key of this user. Undefined: none was made. Errors: CONFIG_INVALID when the file is no key; it is never taken for "none". */
export function readApproverFile(stateFolder: string): SealedApproverKey | undefined {
  const file = approverFile(stateFolder);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unreadable(file, fault);
  }
  try {
    return sealedKey.parse(JSON.parse(text));
  } catch (fault) {
    throw unreadable(file, fault);
  }
}

/** Errors: USAGE when there is a key already: nobody's answers are taken from them by a second `init`. */
export async function writeApproverFile(stateFolder: string, key: SealedApproverKey): Promise<string> {
  const file = approverFile(stateFolder);
  await mkdir(stateFolder, { recursive: true, mode: 0o700 });
  try {
    const handle = await open(file, "wx", 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(key, undefined, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === "EEXIST") throw new CallgateError("USAGE", `There is a key already: ${file}. Questions that wait can be answered with it only. To begin anew, answer or cancel them, then move that file away`);
    throw fault;
  }
  return file;
}

function unreadable(file: string, cause: unknown): CallgateError {
  return new CallgateError("CONFIG_INVALID", `${file} is not the key of an approver. Restore it from a backup, or move it away: answers are then advisory until callgate approver init`, { cause });
}
