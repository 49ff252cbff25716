import { unlockApproverKey } from "@callgate/runtime/broker";
import { readApproverFile } from "../approver/approver-file.ts";
import type { LockedKey } from "./tty-approver.ts";

/** The key of this user, which its passphrase opens. Undefined: none was made. Errors: CONFIG_INVALID. */
export function lockedKey(stateFolder: string): LockedKey | undefined {
  const sealed = readApproverFile(stateFolder);
  return sealed === undefined ? undefined : { by: sealed.by, unlock: (passphrase) => unlockApproverKey(sealed, passphrase) };
}
