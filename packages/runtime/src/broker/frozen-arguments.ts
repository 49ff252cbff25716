import { defaultValueBounds, ValueError } from "@callgate/contract";
import { namedProperties } from "../lib/named-properties.ts";
import type { FrozenArguments } from "./call.ts";

/**
 * Copies a value into plain, deep-frozen data.
 *
 * Every property is read once, so a getter or proxy has one chance to say what it is. Instances of classes that are not
 * plain data pass by reference; only a tool's own schema can have made one.
 *
 * Errors: `ValueError` VALUE_TOO_LARGE past the depth bound, before any stack overflows; VALUE_UNSUPPORTED for a cycle.
 */
export function freezeArguments(value: unknown): FrozenArguments {
  const walk: Walk = { open: new Set(), fluid: false };
  const frozen = copy(value, walk, 0);
  return { value: frozen, take: walk.fluid ? () => copy(frozen, { open: new Set(), fluid: false }, 0) : () => frozen };
}

interface Walk {
  readonly open: Set<object>;
  /** Set once the value holds something that `Object.freeze` does not freeze. */
  fluid: boolean;
}

function copy(value: unknown, walk: Walk, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= defaultValueBounds.maxDepth) {
    throw new ValueError("VALUE_TOO_LARGE", `The arguments are nested deeper than ${defaultValueBounds.maxDepth}`, "");
  }
  if (walk.open.has(value)) throw new ValueError("VALUE_UNSUPPORTED", "The arguments contain themselves", "");
  walk.open.add(value);
  const copied = copyObject(value, walk, depth);
  walk.open.delete(value);
  return copied;
}

function copyObject(value: object, walk: Walk, depth: number): unknown {
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    items.length = value.length;
    // Holes stay holes.
    for (let index = 0; index < items.length; index++) if (Object.hasOwn(value, index)) items[index] = copy(value[index], walk, depth + 1);
    for (const [key, item] of namedProperties(value)) Object.defineProperty(items, key, { value: copy(item, walk, depth + 1), enumerable: true });
    return Object.freeze(items);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return copyRecord(value as Record<string, unknown>, walk, depth);
  if (value instanceof Error) return Object.freeze(value);
  walk.fluid = true;
  if (value instanceof Date) return new Date(value);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [copy(key, walk, depth + 1), copy(item, walk, depth + 1)]));
  if (value instanceof Set) return new Set([...value].map((item) => copy(item, walk, depth + 1)));
  if (value instanceof Uint8Array) return new Uint8Array(value);
  return value;
}

function copyRecord(value: Record<string, unknown>, walk: Walk, depth: number): unknown {
  const record: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const item = copy(value[key], walk, depth + 1);
    // An assignment to `__proto__` would set the prototype instead of a property.
    if (key === "__proto__") Object.defineProperty(record, key, { value: item, enumerable: true });
    else record[key] = item;
  }
  return Object.freeze(record);
}
