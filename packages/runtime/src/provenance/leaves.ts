import { escapePointer } from "../lib/json-pointer.ts";

/** One text or number inside a value. */
export interface Leaf {
  /** JSON Pointer. Of a map's values: their place among them. */
  readonly path: string;
  /** Numbers as their text. */
  readonly text: string;
  readonly isNumber: boolean;
}

export interface LeafBounds {
  readonly maxLeaves: number;
  readonly maxChars: number;
}

const maxDepth = 64;

/**
 * The texts and numbers of a value, outermost first. Keys, booleans, nulls, dates' parts and bytes are none.
 *
 * @returns `isWhole` false when the bounds cut it
 */
export function leavesOf(value: unknown, { maxLeaves, maxChars }: LeafBounds): { readonly leaves: readonly Leaf[]; readonly isWhole: boolean } {
  const leaves: Leaf[] = [];
  const seen = new Set<object>();
  let chars = 0;
  let isWhole = true;

  function add(path: string, text: string, isNumber: boolean): void {
    if (leaves.length >= maxLeaves || chars + text.length > maxChars) {
      isWhole = false;
      return;
    }
    chars += text.length;
    leaves.push({ path, text, isNumber });
  }

  function walk(at: unknown, path: string, depth: number): void {
    if (typeof at === "string") return add(path, at, false);
    if (typeof at === "number" || typeof at === "bigint") return add(path, String(at), true);
    if (at instanceof Date) return add(path, Number.isNaN(at.getTime()) ? "" : at.toISOString(), false);
    if (typeof at !== "object" || at === null || ArrayBuffer.isView(at) || at instanceof ArrayBuffer || seen.has(at)) return;
    if (depth >= maxDepth || leaves.length >= maxLeaves) {
      isWhole = false;
      return;
    }
    seen.add(at);
    for (const [key, item] of itemsOf(at)) walk(item, `${path}/${escapePointer(key)}`, depth + 1);
  }

  walk(value, "", 0);
  return { leaves, isWhole };
}

function itemsOf(value: object): Iterable<readonly [string, unknown]> {
  if (value instanceof Map) return [...value.values()].map((item, index) => [String(index), item] as const);
  if (value instanceof Set) return [...value].map((item, index) => [String(index), item] as const);
  return Object.entries(value);
}
