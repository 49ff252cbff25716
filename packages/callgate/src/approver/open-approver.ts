import { CallgateError } from "@callgate/contract";
import type { AnswerSigner } from "@callgate/contract";
import { unlockApproverKey } from "@callgate/runtime/broker";
import { userFolders } from "../state-folder.ts";
import { readApproverFile } from "./approver-file.ts";

export interface OpenApproverOptions {
  readonly passphrase: string;
  /** Where `callgate approver init` put the key. Default: the user's XDG state folder. */
  readonly stateFolder?: string;
}

/**
 * Opens the key of an approver, for a program that answers, or ends its own background jobs, where that needs a signature.
 * Whoever holds the result answers in that name: keep it, as the passphrase, out of reach of models and guests.
 *
 * Cost: a tenth of a second and 128 MiB. Errors: NOT_APPROVER where there is no key or that is not its passphrase;
 * CONFIG_INVALID for a file that is no key.
 */
export async function openApprover({ passphrase, stateFolder = userFolders().state }: OpenApproverOptions): Promise<AnswerSigner> {
  const sealed = readApproverFile(stateFolder);
  if (sealed === undefined) throw new CallgateError("NOT_APPROVER", "This user has no key of an approver; callgate approver init makes one");
  const signer = await unlockApproverKey(sealed, passphrase);
  if (signer === undefined) throw new CallgateError("NOT_APPROVER", `That is not the passphrase of ${sealed.by}`);
  return signer;
}
