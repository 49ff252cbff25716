import { CallgateError } from "@callgate/contract";
import type { AnswerSigner } from "@callgate/contract";
import { readApproverKey, unlockApproverKey } from "@callgate/runtime/broker";
import { approvalRules, isAnsweredByWebhook } from "../approver/approval-rules.ts";
import { readApproverFile } from "../approver/approver-file.ts";
import { askPassphrase } from "./ask-passphrase.ts";
import type { CommandContext } from "./command-context.ts";

/**
 * Has the person at hand prove that they may do this: opens their key with their passphrase. Undefined where no key is set:
 * then whoever can start this command may (docs/guide/approvals.md).
 *
 * Errors: NOT_APPROVER for a wrong passphrase, or where answers need a key and this user has none of them.
 */
export async function proveApprover(context: Pick<CommandContext, "configuration" | "folders" | "terminal" | "signal">, what: string): Promise<AnswerSigner | undefined> {
  const { config } = await context.configuration();
  const { keys = [] } = approvalRules(config.approvals, context.folders.state);
  if (keys.length === 0) {
    if (!isAnsweredByWebhook(config.approvals)) return undefined;
    throw new CallgateError("NOT_APPROVER", `${what} needs a proof here, for answers come by webhook, and no approver has a key: answer there, or make one with callgate approver init. Nothing was done`);
  }
  const own = readApproverFile(context.folders.state);
  const isKnown = own !== undefined && keys.some(({ by, keyId }) => by === own.by && keyId === readApproverKey(own)?.keyId);
  if (own === undefined || !isKnown) throw new CallgateError("NOT_APPROVER", `${what} is for ${keys.map(({ by }) => by).join(", ")}, whose keys the configuration names; this user has none of them. Nothing was done`);
  const passphrase = await askPassphrase(`Passphrase of ${own.by}`, context);
  const signer = await unlockApproverKey(own, passphrase);
  if (signer === undefined) throw new CallgateError("NOT_APPROVER", `That is not the passphrase of ${own.by}. Nothing was done`);
  return signer;
}

/** Who does it: the owner of the key, or whoever this command was started as. */
export function answererOf(signer: AnswerSigner | undefined, context: Pick<CommandContext, "options">): { readonly signer: AnswerSigner } | { readonly by: string } {
  return signer === undefined ? { by: starterOf(context) } : { signer };
}

/** Whoever this command was started as. */
export function starterOf({ options }: Pick<CommandContext, "options">): string {
  return options.user ?? process.env["USER"] ?? "terminal";
}
