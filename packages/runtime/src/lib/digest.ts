import { createHash } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { Digest, WireValue } from "@callgate/contract";
import canonicalize from "canonicalize";

/** SHA-256 over RFC 8785 canonical JSON: equal for equal values whatever the order of their keys. Errors: ASSERTION for what JSON has no word for. */
export function digestOf(value: unknown): Digest {
  const text = canonicalize(value);
  if (text === undefined) throw new CallgateError("ASSERTION", "Cannot digest a value that JSON has no word for");
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Digest of a value as it crosses the wall; what replay compares. The same for `{a, b}` and `{b, a}`. */
export function digestOfWire(wire: WireValue): Digest {
  return digestOf(JSON.parse(wire.json));
}
