import { decodeValue, secretForms } from "@callgate/contract";
import type { SecretVault } from "@callgate/contract";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { globMatches } from "../lib/name-glob.ts";
import type { NameGlob } from "../lib/name-glob.ts";

/** A secret, and which tools may be given it. */
export interface HeldSecret {
  /** Letters, digits, `-` and `_`. */
  readonly name: string;
  /** At least 8 characters: a shorter one would be found everywhere. */
  readonly value: string;
  readonly tools: readonly NameGlob[];
}

const handle = /^secret:\/\/([A-Za-z0-9_-]{1,64})$/;

export function createSecretVault(secrets: readonly HeldSecret[]): SecretVault {
  const byName = new Map(secrets.map((secret) => [secret.name, secret]));
  const forms = secrets.flatMap(({ name, value }) => secretForms(value).map((form) => ({ form, name }))).sort((a, b) => b.form.length - a.form.length);
  const isFor = ({ tools }: HeldSecret, tool: string): boolean => tools.some((glob) => globMatches(glob, tool));
  const namesFor = (tool: string): readonly string[] => secrets.filter((secret) => isFor(secret, tool)).map(({ name }) => name);

  return {
    namesFor,
    refusal(args, tool) {
      for (const name of namesIn(args)) {
        const secret = byName.get(name);
        if (secret !== undefined && isFor(secret, tool)) continue;
        const allowed = namesFor(tool);
        return `${tool} may not be given secret://${name}; ${allowed.length === 0 ? "it may be given no secret" : `it may be given ${allowed.map((one) => `secret://${one}`).join(", ")}`}`;
      }
      return undefined;
    },
    reveal(args, tool) {
      if (namesIn(args).length === 0) return args;
      return revealed(args, (name) => {
        const secret = byName.get(name);
        return secret !== undefined && isFor(secret, tool) ? secret.value : undefined;
      });
    },
    conceal(answer) {
      const found = forms.filter(({ form }) => answer.json.includes(form));
      if (found.length === 0) return answer;
      const json = found.reduce((text, { form, name }) => text.replaceAll(form, `secret://${name}`), answer.json);
      try {
        decodeValue({ ...answer, json });
        return { ...answer, json };
      } catch {
        // It was a part of a number, or of bytes.
        return undefined;
      }
    },
  };
}

function namesIn(value: unknown): readonly string[] {
  if (typeof value === "string") return handle.exec(value)?.slice(1, 2) ?? [];
  if (value instanceof Map) return [...value].flatMap((pair) => pair.flatMap(namesIn));
  if (value instanceof Set) return [...value].flatMap(namesIn);
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value) ? Object.values(value).flatMap(namesIn) : [];
}

function revealed(value: unknown, valueOf: (name: string) => string | undefined): unknown {
  if (typeof value === "string") {
    const name = handle.exec(value)?.[1];
    return name === undefined ? value : (valueOf(name) ?? value);
  }
  const inner = (item: unknown): unknown => revealed(item, valueOf);
  if (Array.isArray(value)) return value.map(inner);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [inner(key), inner(item)]));
  if (value instanceof Set) return new Set([...value].map(inner));
  // Dates, bytes and what a tool's own schema made have no texts of a program in them.
  return isPlainObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item)])) : value;
}
