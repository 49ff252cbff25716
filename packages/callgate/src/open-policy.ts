import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { Policy, Principal, ProgramLanguage, RunSurroundings, SandboxDriver } from "@callgate/contract";
import { createDefaultPolicy, createRolloutPolicy } from "@callgate/runtime/broker";
import type { PolicyFile, PolicyRule } from "@callgate/policy-cedar";
import type { CallgateConfig } from "./config/load-config.ts";

/**
 * The policy a configuration describes. Without rules it is the default, and Cedar, a tenth of a second of start-up, is not
 * loaded.
 *
 * Errors: `CallgateError` CONFIG_INVALID.
 */
export async function openPolicy({ rules = [], policy = {} }: Pick<CallgateConfig, "rules" | "policy">, folder: string): Promise<Policy> {
  const current = await policyOf({ rules, policy }, folder);
  if (policy.next === undefined) return current;
  const { stage = "shadow", share = 1, users, agents, roles, tenants, ...coming } = policy.next;
  const { mode, unsafeWithoutOutflowRule } = policy;
  const next = await policyOf({ rules: coming.rules ?? [], policy: { files: coming.files, mode, unsafeWithoutOutflowRule } }, folder);
  return createRolloutPolicy({ current, next, stage, share, isFor: principalTest({ users, agents, roles, tenants }), describe: JSON.stringify({ users, agents, roles, tenants }) });
}

type Who = Pick<NonNullable<NonNullable<CallgateConfig["policy"]>["next"]>, "users" | "agents" | "roles" | "tenants">;

/** All that is named must hold; a list holds with one of its names. */
function principalTest({ users, agents, roles, tenants }: Who): (principal: Principal) => boolean {
  return ({ user, agent, tenant, ...principal }) =>
    users?.includes(user) !== false && agents?.includes(agent ?? "") !== false && tenants?.includes(tenant) !== false && roles?.some((role) => principal.roles.includes(role)) !== false;
}

async function policyOf({ rules = [], policy = {} }: Pick<CallgateConfig, "rules" | "policy">, folder: string): Promise<Policy> {
  const files = policyFiles(policy.files ?? [], folder);
  const { mode = "enforce", unsafeWithoutOutflowRule = false } = policy;
  if (rules.length === 0 && files.length === 0 && mode === "enforce" && !unsafeWithoutOutflowRule) return createDefaultPolicy();
  const { createCedarPolicy } = await import("@callgate/policy-cedar");
  return createCedarPolicy({ rules: rules as readonly PolicyRule[], files, mode, unsafeWithoutOutflowRule });
}

/** A pattern that matches nothing is a mistake: the denials in the files it means would be missing without a word. */
function policyFiles(patterns: readonly string[], folder: string): readonly PolicyFile[] {
  const names = patterns.flatMap((pattern) => {
    const found = globSync(pattern, { cwd: folder }).sort();
    if (found.length === 0) throw new CallgateError("CONFIG_INVALID", `policy.files: "${pattern}" names no file in ${folder}`);
    return found;
  });
  return [...new Set(names)].map((name) => ({ name: name.replaceAll("\\", "/"), text: readText(resolve(folder, name)) }));
}

function readText(path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (cause) {
    throw new CallgateError("CONFIG_INVALID", `${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** What is around the programs of a configuration, as a policy about runs sees it. The embedded sandbox has nothing but tools. */
export function surroundingsOf({ sandbox = {}, python = {}, node = {} }: Pick<CallgateConfig, "sandbox" | "python" | "node">): (driver: SandboxDriver, language: ProgramLanguage) => RunSurroundings {
  return ({ name }, language) => {
    if (name === "quickjs") return { launcher: name, mounts: [], network: [], packages: [] };
    const packages = language === "python" ? python.modules : language === "typescript" || language === "javascript" || language === "node" ? node.packages : undefined;
    return { launcher: name, mounts: (sandbox.mounts ?? []).map(({ mode, guest }) => `${mode}:${guest}`), network: sandbox.network?.allow ?? [], packages: packages ?? [] };
  };
}
