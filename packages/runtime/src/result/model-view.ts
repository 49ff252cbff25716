import type { JsonObject, JsonValue } from "@callgate/contract";
import { namedProperties } from "../lib/named-properties.ts";

/**
 * A value as a model reads it: JSON, in which what JSON has no word for is an object with one key that says so.
 *
 * | value | shown as |
 * | --- | --- |
 * | `undefined`, array hole | `{"$undefined":true}` |
 * | NaN, ±Infinity, -0 | `{"$number":"NaN"}` |
 * | BigInt | `{"$bigint":"12345678901234567890"}` |
 * | Date | `{"$date":"2030-01-01T00:00:00.000Z"}` |
 * | Map | `{"$map":[[key, value], ...]}` |
 * | Set | `{"$set":[...]}` |
 * | array with named properties | `{"$array":[...],"index":3}` |
 * | bytes | `{"$bytes":{"length":5242880,"head":"89504e470d0a1a0a"}}`, never the bytes themselves |
 * | Error | `{"$error":{"name":"...","message":"..."}}` |
 *
 * Takes decoded plain data, as `decodeValue` makes it. Properties named `__proto__` stay properties.
 */
export function modelView(value: unknown): JsonValue {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { $number: Object.is(value, -0) ? "-0" : String(value) };
    case "bigint":
      return { $bigint: value.toString() };
    case "object":
      return value === null ? null : objectView(value);
    case "undefined":
    case "function":
    case "symbol":
      return { $undefined: true };
  }
}

function objectView(value: object): JsonValue {
  if (Array.isArray(value)) return arrayView(value);
  if (value instanceof Date) return { $date: Number.isNaN(value.getTime()) ? "invalid" : value.toISOString() };
  if (value instanceof Map) return { $map: Array.from(value, ([key, item]) => [modelView(key), modelView(item)]) };
  if (value instanceof Set) return { $set: Array.from(value, modelView) };
  if (value instanceof Uint8Array) return { $bytes: { length: value.length, head: Buffer.from(value.subarray(0, 8)).toString("hex") } };
  if (value instanceof Error) return { $error: errorView(value) };
  return recordView(value as Readonly<Record<string, unknown>>);
}

function arrayView(list: readonly unknown[]): JsonValue {
  const items = Array.from(list, modelView);
  const named = namedProperties(list);
  return named.length === 0 ? items : { $array: items, ...Object.fromEntries(named.map(([key, item]) => [key, modelView(item)])) };
}

function errorView(error: Error): JsonObject {
  return { name: error.name, message: error.message, ...Object.fromEntries(Object.entries(error).map(([key, item]) => [key, modelView(item)])) };
}

function recordView(record: Readonly<Record<string, unknown>>): JsonObject {
  // Object.fromEntries defines properties, so that `__proto__` is one like any other.
  return Object.fromEntries(Object.entries(record).map(([key, item]) => [key, modelView(item)]));
}
