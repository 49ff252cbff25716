import { CallgateError } from "@callgate/contract";
import { resolveReferences } from "./config/secret-references.ts";

/** What the settings of a source refer to, read once. */
export interface SecretReader {
  read(reference: string): string;
  /** What must never be shown. */
  readonly secrets: readonly string[];
}

/**
 * Reads every reference among settings, however deep, so that one that leads nowhere is told when the gate is opened.
 *
 * @param place how errors name the block, e.g. `openapi.github.auth`
 *
 * Errors: `CallgateError` CONFIG_INVALID naming the place and what is missing; never the value.
 */
export function readReferences(settings: unknown, place: string, host: Parameters<typeof resolveReferences>[2]): SecretReader {
  const found = new Map<string, string>();
  const secrets: string[] = [];
  const open: { readonly value: unknown; readonly at: string; readonly key: string }[] = [{ value: settings, at: place, key: "" }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, at, key } = next;
    if (typeof value === "object" && value !== null) open.push(...Object.entries(value).map(([name, inner]: [string, unknown]) => ({ value: inner, at: key === "" ? at : `${at}.${key}`, key: name })));
    else if (typeof value === "string" && /^(?:env:|file:|keychain:|\$\{)/.test(value)) {
      const { values, secrets: read } = key === "" ? resolveAlone(value, at, host) : resolveReferences({ [key]: value }, at, host);
      found.set(value, Object.values(values)[0] ?? "");
      secrets.push(...read);
    }
  }
  return {
    secrets,
    read(reference) {
      const value = found.get(reference);
      if (value === undefined) throw new CallgateError("CONFIG_INVALID", `${place}: "${reference.slice(0, 4)}…" is no reference of these settings; write env:NAME, file:PATH or keychain:SERVICE/ACCOUNT`);
      return value;
    },
  };
}

/** A block that is one reference: its last word is the key. */
function resolveAlone(reference: string, place: string, host: Parameters<typeof resolveReferences>[2]): ReturnType<typeof resolveReferences> {
  const dot = place.lastIndexOf(".");
  return resolveReferences({ [place.slice(dot + 1)]: reference }, place.slice(0, Math.max(0, dot)), host);
}
