import { hash as hashOf } from "node:crypto";
import type { Digest, Redactor, WireValue } from "@callgate/contract";
import { digestOfWire } from "../lib/digest.ts";
import { keyedHash } from "./keyed-hash.ts";
import { pointerTree } from "./pointer-tree.ts";
import { secretForms } from "./secret-forms.ts";
import { summarize, summarizeWhole } from "./summarize.ts";

export interface RedactorOptions {
  /** Clear texts of every secret this process knows. */
  readonly secrets: readonly string[];
  /** For the hashes of sensitive values; one per installation, so that they compare across runs. */
  readonly key: Uint8Array;
}

/** From this many characters of JSON on a digest is of the text as it stands. */
const CANONICAL_CHARS = 256 * 1024;

const noSecret = /(?!)/g;

/**
 * Makes the redactor of a process.
 *
 * Digests: up to 256 Ki characters of JSON they are RFC 8785 digests, equal for equal values whatever the order of keys;
 * beyond that SHA-256 of the wire's JSON text as it stands, which costs a tenth and is equal for equal texts. Digests of
 * arguments come from `digestOfWire`, canonical at every size: keys and approvals hang on them.
 *
 * Secrets are found exact, in JSON, URL-encoded, hex and base64. Split, reversed, compressed or encrypted ones are not.
 */
export function createRedactor({ secrets, key }: RedactorOptions): Redactor {
  const forms = [...new Set(secrets.flatMap((secret) => secretForms(secret)))].sort((a, b) => b.length - a.length);
  const longestForm = forms[0]?.length ?? 0;
  const pattern = forms.length === 0 ? noSecret : new RegExp(forms.map(escapePattern).join("|"), "g");
  const text = (value: string): string => (forms.length === 0 ? value : value.replaceAll(pattern, "[secret]"));
  const hash = (value: unknown): string => keyedHash(key, value);

  function summary(value: unknown, sensitive: readonly string[]): ReturnType<Redactor["summary"]> {
    return summarize(value, { sensitive: pointerTree(sensitive), hash, text, longestForm });
  }

  return {
    record: (value, wire, sensitive) => ({ digest: digestOfRecorded(wire), summary: summary(value, sensitive), clear: wire }),
    summary,
    whole: (value, sensitive) => summarizeWhole(value, { sensitive: pointerTree(sensitive), hash, text, longestForm }),
    text,
  };
}

function digestOfRecorded(wire: WireValue): Digest {
  if (wire.json.length <= CANONICAL_CHARS) return digestOfWire(wire);
  return `sha256:${hashOf("sha256", wire.json)}`;
}

/** `RegExp.escape` for Node before 24. */
function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
