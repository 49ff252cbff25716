import { CallgateError } from "@callgate/contract";
import type { ApprovalRules, ApproverKey } from "@callgate/contract";
import { readApproverKey } from "@callgate/runtime/broker";
import type { ConfigFile } from "../config/config-schema.ts";
import { readApproverFile } from "./approver-file.ts";

type Configured = Exclude<ConfigFile["approvals"], string | undefined>;

const dayMs = 86_400_000;

/** The long form of `approvals`: a word alone says where questions go. What is posted to a service waits for it. */
export function approvalsConfig(config: ConfigFile["approvals"]): Configured {
  if (typeof config === "string") return { mode: config };
  return config?.webhook === undefined ? (config ?? {}) : { ...config, mode: config.mode ?? "keep" };
}

/** Whether a service may answer: then an answer without a signature is none. */
export function isAnsweredByWebhook(config: ConfigFile["approvals"]): boolean {
  return approvalsConfig(config).webhook?.answers !== undefined;
}

/**
 * Whose answers count. Keys that the configuration names are the only ones; without any, that of this user's state folder
 * is. They are read once: who exchanges a file changes nothing for a gate that is open.
 *
 * Errors: CONFIG_INVALID for a key that is none.
 */
export function approvalRules(config: ConfigFile["approvals"], stateFolder: string): ApprovalRules {
  const { keys, fourEyes, unsafeSelfApproval, expiryDays, maxPerMinute } = approvalsConfig(config);
  return {
    keys: keys === undefined ? ownKey(stateFolder) : keys.map((key, index) => keyOf(key, `approvals.keys[${index}]`)),
    ...(fourEyes === undefined ? {} : { fourEyes }),
    ...(unsafeSelfApproval === undefined ? {} : { unsafeSelfApproval }),
    ...(expiryDays === undefined ? {} : { expiryMs: expiryDays * dayMs }),
    ...(maxPerMinute === undefined ? {} : { maxPerMinute }),
  };
}

function ownKey(stateFolder: string): readonly ApproverKey[] {
  const file = readApproverFile(stateFolder);
  return file === undefined ? [] : [keyOf(file, "approver.json")];
}

function keyOf(given: { readonly by: string; readonly publicKey: string }, place: string): ApproverKey {
  const key = readApproverKey(given);
  if (key === undefined) throw new CallgateError("CONFIG_INVALID", `${place}.publicKey is not a public key of Ed25519; callgate approver show prints the one of this user`);
  return key;
}
