import { fromBase64 } from "./base64.ts";
import type { ValueBounds, WireValue } from "./value-codec.ts";
import { checkDigits, defaultValueBounds, TAG, ValueError } from "./value-codec.ts";
import { codeAt, defineProperty, deleteProperty, hasOwn, isArray, keysOf, mapSet, match, parse, SafeDataView, SafeDate, SafeError, SafeMap, SafeSet, setAdd, toBigInt, views } from "./value-intrinsics.ts";

/**
 * Rebuilds plain data from text. Throws `ValueError` VALUE_UNSUPPORTED for text that no encoder writes and
 * VALUE_TOO_LARGE past `bounds`. A key `__proto__` becomes a property of that name; no prototype is ever set.
 */
export function decodeValue(wire: WireValue, bounds: ValueBounds = defaultValueBounds): unknown {
  const { json } = wire;
  if (json.length > bounds.maxChars) {
    throw new ValueError("VALUE_TOO_LARGE", `The value is ${json.length} characters of JSON, the bound is ${bounds.maxChars}`, { path: "", bound: "maxChars" });
  }
  checkShape(json, bounds);
  let tree: unknown;
  try {
    tree = parse(json);
  } catch {
    throw new ValueError("VALUE_UNSUPPORTED", "The value is not JSON", { path: "" });
  }
  return wire.tagged ? revive(tree) : tree;
}

/**
 * Counts nesting and items of JSON text before it is parsed: four characters of `[` cost a parser far more than four
 * bytes. A text too short to break a bound is not looked at. Tags nest up to three levels for one of the value.
 */
function checkShape(json: string, bounds: ValueBounds): void {
  const maxDepth = bounds.maxDepth * 3 + 3;
  if (json.length <= maxDepth && json.length <= bounds.maxNodes) return;
  let depth = 0;
  let nodes = 0;
  for (let index = 0; index < json.length; index++) {
    const code = codeAt(json, index);
    if (code === 34) index = stringEnd(json, index + 1);
    else if (code === 44) nodes += 1;
    else if (code === 91 || code === 123) {
      nodes += 1;
      depth += 1;
      if (depth > maxDepth) throw new ValueError("VALUE_TOO_LARGE", `The value is nested deeper than ${bounds.maxDepth}`, { path: "", bound: "maxDepth" });
    } else if (code === 93 || code === 125) depth -= 1;
  }
  // Tags cost up to four items for one of the value.
  if (nodes > bounds.maxNodes * 4 + 4) throw new ValueError("VALUE_TOO_LARGE", `The value has more than ${bounds.maxNodes} items and properties`, { path: "", bound: "maxNodes" });
}

function stringEnd(json: string, start: number): number {
  for (let index = start; index < json.length; index++) {
    const code = codeAt(json, index);
    if (code === 34) return index;
    if (code === 92) index += 1;
  }
  return json.length;
}

function malformed(): never {
  throw new ValueError("VALUE_UNSUPPORTED", "The value is not what an encoder writes", { path: "" });
}

/** Replaces tags by what they stand for, in place: every slot written exists already, so no setter is ever met. */
function revive(tree: unknown): unknown {
  if (typeof tree !== "object" || tree === null) return tree;
  if (isArray(tree)) {
    for (let index = 0; index < tree.length; index++) {
      const item: unknown = tree[index];
      if (isTag(item) && item[TAG] === "hole") deleteProperty(tree, index);
      else tree[index] = revive(item);
    }
    return tree;
  }
  if (isTag(tree)) return fromTag(tree[TAG], hasOwn(tree, "v") ? tree.v : undefined);
  const record = tree as Record<string, unknown>;
  const keys = keysOf(record);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    record[key] = revive(record[key]);
  }
  return record;
}

function isTag(value: unknown): value is { readonly [TAG]: unknown; readonly v?: unknown } {
  return typeof value === "object" && value !== null && hasOwn(value, TAG);
}

function fromTag(name: unknown, payload: unknown): unknown {
  switch (name) {
    case "undefined":
      return undefined;
    case "nan":
      return 0 / 0;
    case "inf":
      return 1 / 0;
    case "-inf":
      return -1 / 0;
    case "-0":
      return -0;
    case "bigint":
      return typeof payload === "string" && match(/^-?\d+$/, payload) !== null ? toBigInt(checkDigits(payload)) : malformed();
    case "date":
      return payload === null ? new SafeDate(0 / 0) : typeof payload === "number" ? new SafeDate(payload) : malformed();
    case "bytes":
      return bytesFrom(payload);
    case "buffer":
      return bytesFrom(payload).buffer;
    case "view":
      return viewFrom(payload);
    case "map":
    case "set":
    case "object":
      return collectionFrom(name, isArray(payload) ? payload : malformed());
    case "array":
      return arrayFrom(payload);
    case "error":
      return errorFrom(payload);
    default:
      return malformed();
  }
}

function bytesFrom(payload: unknown): Uint8Array<ArrayBuffer> {
  if (typeof payload !== "string") return malformed();
  try {
    return fromBase64(payload);
  } catch {
    return malformed();
  }
}

function collectionFrom(kind: "map" | "set" | "object", items: readonly unknown[]): unknown {
  const target = kind === "map" ? new SafeMap() : kind === "set" ? new SafeSet() : {};
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (kind === "set") {
      setAdd(target, revive(item));
      continue;
    }
    if (!isArray(item) || item.length !== 2) return malformed();
    const key: unknown = item[0];
    if (kind === "map") mapSet(target, revive(key), revive(item[1]));
    else if (typeof key === "string") defineProperty(target, key, dataProperty(revive(item[1]), true));
    else return malformed();
  }
  return target;
}

/** An array with named properties. */
function arrayFrom(payload: unknown): unknown {
  if (!isArray(payload) || payload.length !== 2 || !isArray(payload[0]) || !isArray(payload[1])) return malformed();
  const items = revive(payload[0]) as object;
  return withNamed(items, payload[1]);
}

/** Defines what entries name, none of which the target may have. */
function withNamed<Target extends object>(target: Target, entries: readonly unknown[]): Target {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index];
    if (!isArray(entry) || entry.length !== 2 || typeof entry[0] !== "string" || hasOwn(target, entry[0])) return malformed();
    defineProperty(target, entry[0], dataProperty(revive(entry[1]), true));
  }
  return target;
}

function dataProperty(value: unknown, enumerable: boolean): PropertyDescriptor {
  return { __proto__: null, value, enumerable, configurable: true, writable: true } as PropertyDescriptor;
}

function viewFrom(payload: unknown): ArrayBufferView {
  if (!isArray(payload) || payload.length !== 2 || typeof payload[0] !== "string") return malformed();
  const { buffer } = bytesFrom(payload[1]);
  if (payload[0] === "DataView") return new SafeDataView(buffer);
  const View = views[payload[0]];
  return View === undefined ? malformed() : new View(buffer);
}

function errorFrom(payload: unknown): Error {
  if (!isArray(payload) || payload.length < 2 || payload.length > 4) return malformed();
  const name: unknown = payload[0];
  const message: unknown = payload[1];
  const code: unknown = payload.length > 2 ? payload[2] : null;
  const named: unknown = payload.length > 3 ? payload[3] : [];
  if (typeof name !== "string" || typeof message !== "string" || (code !== null && typeof code !== "string") || !isArray(named)) return malformed();
  const error = new SafeError(message);
  delete error.stack;
  if (name !== "Error") defineProperty(error, "name", dataProperty(name, false));
  if (code !== null) defineProperty(error, "code", dataProperty(code, true));
  return withNamed(error, named);
}
