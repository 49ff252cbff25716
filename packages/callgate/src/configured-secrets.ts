import { CallgateError } from "@callgate/contract";
import { qualifiedGlob } from "@callgate/runtime/broker";
import { createSecretVault } from "@callgate/runtime/journal";
import type { SecretVault } from "@callgate/contract";
import type { CallgateConfig } from "./config/load-config.ts";
import { resolveReferences } from "./config/secret-references.ts";

/** A shorter one turns up in texts by chance. */
const minSecretChars = 8;

/**
 * The secrets that programs can pass to tools, and their clear texts for the redactor. Undefined where there are none.
 *
 * Errors: `CallgateError` CONFIG_INVALID naming the secret, never its value.
 */
export function configuredSecrets(secrets: NonNullable<CallgateConfig["secrets"]>, host: Parameters<typeof resolveReferences>[2]): { readonly vault: SecretVault; readonly clear: readonly string[] } | undefined {
  const entries = Object.entries(secrets);
  if (entries.length === 0) return undefined;
  const { values } = resolveReferences(Object.fromEntries(entries.map(([name, { from }]) => [name, from])), "secrets", host);
  const held = entries.map(([name, { tools }]) => {
    const value = values[name] ?? "";
    if (value.length < minSecretChars) throw new CallgateError("CONFIG_INVALID", `secrets.${name}: the secret is ${value.length} characters long; one below ${minSecretChars} cannot be told from other text, so it could not be kept out of answers`);
    return { name, value, tools: tools.map((pattern, index) => globOf(pattern, `secrets.${name}.tools[${index}]`)) };
  });
  return { vault: createSecretVault(held), clear: held.map(({ value }) => value) };
}

function globOf(pattern: string, place: string) {
  const glob = qualifiedGlob(pattern);
  if (typeof glob === "string") throw new CallgateError("CONFIG_INVALID", `${place}: "${pattern}" ${glob}`);
  return glob;
}
