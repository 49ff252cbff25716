import { hash } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { Digest, WireValue } from "@callgate/contract";
import canonicalize from "canonicalize";

/**
 * SHA-256 over RFC 8785 canonical JSON: equal for equal values whatever the order of their keys.
 *
 * For JSON values; anything richer goes through `digestOfWire`, where 1 and 1n, null and undefined stay apart. RFC 8785
 * has no form for a lone surrogate: a string (or the object of a key) that holds one is digested as
 * `{"$cg":"utf16","v":"<hex of the units>"}`, which no encoder writes. Refusing it would let a program choose a value that
 * cannot be journalled; U+FFFD in its place would make different arguments equal.
 *
 * Errors: ASSERTION for what JSON has no word for (undefined at the top, NaN, ±Infinity, BigInt, cycles).
 */
export function digestOf(value: unknown): Digest {
  return hashOf(canonical(value));
}

/**
 * Digest of a value as it crosses the wall; what replay compares. The same for `{a, b}` and `{b, a}`, and never the same
 * for a tagged value and the plain object that spells its tag.
 */
export function digestOfWire(wire: WireValue): Digest {
  const tree: unknown = JSON.parse(wire.json);
  return hashOf(wire.tagged ? `tagged ${canonical(tree)}` : canonical(tree));
}

function canonical(value: unknown): string {
  const text = plainJson(value, 0) ?? canonicalText(value) ?? canonicalText(withoutLoneSurrogates(value));
  if (text === undefined) throw new CallgateError("ASSERTION", "Cannot digest a value that JSON has no word for");
  return text;
}

function hashOf(text: string): Digest {
  return `sha256:${hash("sha256", text)}`;
}

/** The stack is safe with so many levels of recursion; deeper values are written without it, at three times the cost. */
const maxPlainDepth = 64;

/** RFC 8785 text of plain JSON, where each string is whole and no object has more to it than its properties. */
function plainJson(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value.isWellFormed() ? JSON.stringify(value) : undefined;
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? JSON.stringify(value) : undefined;
  if (typeof value !== "object" || depth === maxPlainDepth) return undefined;
  if (Array.isArray(value)) return plainItems(value, depth + 1);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  return "toJSON" in value ? undefined : plainProperties(value as Readonly<Record<string, unknown>>, depth + 1);
}

function plainItems(items: readonly unknown[], depth: number): string | undefined {
  let text = "";
  for (const item of items) {
    const part = plainJson(item, depth);
    if (part === undefined) return undefined;
    text += text === "" ? part : `,${part}`;
  }
  return `[${text}]`;
}

function plainProperties(object: Readonly<Record<string, unknown>>, depth: number): string | undefined {
  const keys = Object.keys(object);
  let text = "";
  // Sorted by UTF-16 units, as RFC 8785 wants it.
  for (const key of keys.length > 1 ? keys.sort() : keys) {
    const part = plainJson(object[key], depth);
    if (part === undefined || !key.isWellFormed()) return undefined;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${part}`;
  }
  return `{${text}}`;
}

function canonicalText(value: unknown): string | undefined {
  try {
    return canonicalize(value);
  } catch (cause) {
    if (cause instanceof Error && cause.message.includes("surrogate")) return undefined;
    throw new CallgateError("ASSERTION", "Cannot digest a value that JSON has no word for", { cause });
  }
}

function withoutLoneSurrogates(tree: unknown): unknown {
  if (typeof tree === "string") return tree.isWellFormed() ? tree : { $cg: "utf16", v: hexUnits(tree) };
  if (typeof tree !== "object" || tree === null) return tree;
  if (Array.isArray(tree)) return tree.map(withoutLoneSurrogates);
  const entries = Object.entries(tree).map(([key, item]) => [key, withoutLoneSurrogates(item)] as const);
  if (entries.every(([key]) => key.isWellFormed())) return Object.fromEntries(entries);
  const byHexKey = entries.map(([key, item]) => [hexUnits(key), item] as const);
  return { $cg: "utf16", v: byHexKey.sort(([a], [b]) => (a < b ? -1 : 1)) };
}

function hexUnits(text: string): string {
  return Buffer.from(text, "utf16le").toString("hex");
}
