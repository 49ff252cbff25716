import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import { readKeychain } from "./keychain.ts";

/** Values with their references replaced, and which of them must never be shown. */
export interface ResolvedValues {
  readonly values: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

/** A name that says that its value is a secret even where it is written out. */
const secretName = /token|secret|password|passwd|api[-_]?key|authorization|credential/i;

/**
 * Replaces `env:NAME`, `file:PATH`, `keychain:SERVICE/ACCOUNT`, `${NAME}`, `${env:NAME}` and `${NAME:-otherwise}` in configured values.
 *
 * @param place how errors name the block, e.g. `mcpServers.github.env`
 *
 * Errors: `CallgateError` CONFIG_INVALID naming place, key and what is missing; never the value.
 */
export function resolveReferences(
  configured: Readonly<Record<string, string>>,
  place: string,
  host: { readonly env: Readonly<Record<string, string | undefined>>; readonly folder: string },
): ResolvedValues {
  const values: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [key, text] of Object.entries(configured)) {
    const { value, referenced } = resolveOne(text, `${place}.${key}`, host);
    values[key] = value;
    if ((referenced || secretName.test(key)) && value.length >= 4) secrets.push(value);
  }
  return { values, secrets };
}

/**
 * The same of a command line, in which `${NAME}` alone is a reference: a word of it may begin with `file:` or `env:` and mean that.
 *
 * @param place as for `resolveReferences`, e.g. `mcpServers.github.args`
 *
 * Errors: as `resolveReferences`.
 */
export function resolveWords(words: readonly string[], place: string, host: Host): { readonly words: readonly string[]; readonly secrets: readonly string[] } {
  const resolved = words.map((word, index) => resolveTemplate(word, `${place}[${index}]`, host));
  return { words: resolved.map(({ value }) => value), secrets: resolved.flatMap(({ values }) => values.filter((value) => value.length >= 4)) };
}

type Host = Parameters<typeof resolveReferences>[2];

function resolveOne(text: string, place: string, host: Host): { readonly value: string; readonly referenced: boolean } {
  if (text.startsWith("env:")) return { value: environment(text.slice(4), place, host), referenced: true };
  if (text.startsWith("file:")) return { value: fileContent(text.slice(5), place, host), referenced: true };
  if (text.startsWith("keychain:")) return { value: readKeychain(text.slice("keychain:".length), place, host), referenced: true };
  const { value, values } = resolveTemplate(text, place, host);
  return { value, referenced: values.length > 0 };
}

/** @returns with `values` of the environment that were put in */
function resolveTemplate(text: string, place: string, host: Host): { readonly value: string; readonly values: readonly string[] } {
  const values: string[] = [];
  const value = text.replace(/\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_match, name: string, otherwise?: string) => {
    // As in a shell: what is empty counts as not set.
    if (otherwise !== undefined && (host.env[name] ?? "") === "") return otherwise;
    const found = environment(name, place, host);
    values.push(found);
    return found;
  });
  return { value, values };
}

function environment(name: string, place: string, host: Host): string {
  const value = host.env[name];
  if (value === undefined) {
    throw new CallgateError("CONFIG_INVALID", `${place} refers to the environment variable ${name}, which is not set; set it, or write the reference to another place`);
  }
  return value;
}

function fileContent(path: string, place: string, host: Host): string {
  try {
    return readFileSync(resolve(host.folder, path), "utf8").replace(/\r?\n$/, "");
  } catch (cause) {
    throw new CallgateError("CONFIG_INVALID", `${place} refers to the file ${path}, which cannot be read; check the path and its permissions`, { cause });
  }
}
