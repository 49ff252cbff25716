import { isDeepStrictEqual } from "node:util";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { escapePointer } from "../lib/json-pointer.ts";

/** Places at which two values differ, as JSON Pointers: as deep as both have the same form there. */
export function differingPaths(one: unknown, other: unknown, path = ""): readonly string[] {
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) return one.flatMap((item, index) => differingPaths(item, other[index], `${path}/${index}`));
  if (isPlainObject(one) && isPlainObject(other)) {
    const keys = Object.keys(one);
    if (keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key))) return keys.flatMap((key) => differingPaths(one[key], other[key], `${path}/${escapePointer(key)}`));
  }
  return isDeepStrictEqual(one, other) ? [] : [path];
}

/** A copy of the value with null at each of these places. */
export function withoutPaths(value: unknown, paths: ReadonlySet<string>, path = ""): unknown {
  if (paths.has(path)) return null;
  if (Array.isArray(value)) return value.map((item, index) => withoutPaths(item, paths, `${path}/${index}`));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutPaths(item, paths, `${path}/${escapePointer(key)}`)]));
}
