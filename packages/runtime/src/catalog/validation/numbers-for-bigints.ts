import { isPlainObject } from "../../lib/is-plain-object.ts";

/**
 * The value with every BigInt as the nearest number, for a validator that knows numbers only: an id of 19 digits that a
 * source kept exact is an `integer` to its schema. The same value when there is none; never changes the value.
 * Cost: linear in the value; objects that are not plain are left alone.
 */
export function numbersForBigInts(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) {
    const items = value.map(numbersForBigInts);
    return items.every((item, index) => Object.is(item, value[index])) ? value : items;
  }
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, numbersForBigInts(item), item] as const);
  return entries.every(([, mapped, item]) => Object.is(mapped, item)) ? value : Object.fromEntries(entries);
}
