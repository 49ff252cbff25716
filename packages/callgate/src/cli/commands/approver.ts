import { CallgateError } from "@callgate/contract";
import { createApproverKey } from "@callgate/runtime/broker";
import { approvalRules, approvalsConfig } from "../../approver/approval-rules.ts";
import { readApproverFile, writeApproverFile } from "../../approver/approver-file.ts";
import { askPassphrase } from "../ask-passphrase.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { visible } from "../terminal.ts";

/** Whoever can read the sealed key can guess without end: a short one is no credential. */
const minPassphraseChars = 12;

/** `callgate approver init` */
export async function initApproverCommand(options: { readonly name?: string }, context: CommandContext): Promise<ExitCode> {
  const { folders, terminal } = context;
  const by = options.name ?? process.env["USER"] ?? "owner";
  if (readApproverFile(folders.state) !== undefined) throw new CallgateError("USAGE", "This user has a key already: callgate approver show");
  const passphrase = await askPassphrase(`A passphrase for ${by}, at least ${minPassphraseChars} characters; whoever knows it answers in that name`, context);
  if (passphrase.length < minPassphraseChars) throw new CallgateError("USAGE", `The passphrase has ${passphrase.length} characters; at least ${minPassphraseChars} are needed. Nothing was made`);
  if (process.stdin.isTTY && (await askPassphrase("Once more", context)) !== passphrase) throw new CallgateError("USAGE", "The two are not the same. Nothing was made");
  const key = await createApproverKey({ by, passphrase });
  const file = await writeApproverFile(folders.state, key);
  if (context.options.json === true) terminal.out(`${JSON.stringify({ by, publicKey: key.publicKey, file })}\n`);
  else terminal.out(`${file} holds the key of ${visible(by)}. From now on answers have to be signed with it; gates that are open take it up when they are started again.\n${pinText(key)}`);
  return exitCodes.ok;
}

/** `callgate approver show` */
export async function showApproverCommand(context: CommandContext): Promise<ExitCode> {
  const { terminal, folders } = context;
  const { config } = await context.configuration();
  const { keys = [] } = approvalRules(config.approvals, folders.state);
  const own = readApproverFile(folders.state);
  const isPinned = approvalsConfig(config.approvals).keys !== undefined;
  if (context.options.json === true) {
    terminal.out(`${JSON.stringify({ keys: keys.map(({ by, keyId }) => ({ by, keyId })), isPinned, ...(own === undefined ? {} : { own: { by: own.by, publicKey: own.publicKey } }) })}\n`);
    return exitCodes.ok;
  }
  if (keys.length === 0) terminal.out("No key is set: answers are advisory, for whoever can start callgate can give them. Make one with callgate approver init\n");
  for (const { by, keyId } of keys) terminal.out(`${visible(by)} ${keyId}${isPinned ? " (named in the configuration)" : ""}\n`);
  if (own !== undefined && !isPinned) terminal.out(pinText(own));
  return exitCodes.ok;
}

function pinText({ by, publicKey }: { readonly by: string; readonly publicKey: string }): string {
  return `So that nobody can exchange the key unseen, name it in a configuration that only an administrator can write:\n  "approvals": { "keys": [{ "by": ${JSON.stringify(by)}, "publicKey": "${publicKey}" }] }\n`;
}
