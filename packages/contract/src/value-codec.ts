// Runs on both sides of the wall: the host imports it, and JavaScript guests load its type-stripped text as part of
// their prelude, before any program. So it imports nothing, and takes every built-in it uses when it is loaded.

/**
 * A value as text. `json` is JSON; where `tagged` is false it is the value itself and `JSON.parse` is all it takes,
 * which is what makes large plain results cheap. Where it is true, objects with the single key `$cg` stand for values
 * JSON has no word for.
 */
export interface WireValue {
  readonly json: string;
  readonly tagged: boolean;
}

export interface ValueBounds {
  /** Nesting of arrays and objects. Both JSON.stringify and structuredClone throw from about 5,000. */
  readonly maxDepth: number;
  /** Array items and object properties in all. */
  readonly maxNodes: number;
  /** UTF-16 units of the JSON text. */
  readonly maxChars: number;
}

export const defaultValueBounds: ValueBounds = { maxDepth: 200, maxNodes: 20_000_000, maxChars: 64 * 1024 * 1024 };

export type ValueErrorCode = "VALUE_UNSUPPORTED" | "VALUE_TOO_LARGE";

/** A value that cannot cross. `path` is a JSON Pointer to it. */
export class ValueError extends Error {
  override readonly name = "ValueError";
  readonly code: ValueErrorCode;
  readonly path: string;

  constructor(code: ValueErrorCode, message: string, path: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

const TAG = "$cg";

/** Mutable walk state: what is left of the bounds, and the objects being walked (for cycles). */
interface Walk {
  readonly bounds: ValueBounds;
  readonly open: Set<object>;
  nodes: number;
  tagged: boolean;
}

/**
 * Turns a value into text. Every property is read once.
 *
 * Plain JSON values, `undefined`, NaN, ±Infinity, -0, BigInt, Date, Map, Set, Uint8Array (and other views and
 * ArrayBuffer, as bytes), Error (name, message, code) and array holes cross; shared references are written twice.
 * Throws `ValueError`: VALUE_UNSUPPORTED for cycles, functions, symbols and instances of other classes,
 * VALUE_TOO_LARGE past `bounds`. What a getter or proxy throws passes through.
 */
export function encodeValue(value: unknown, bounds: ValueBounds = defaultValueBounds): WireValue {
  const walk: Walk = { bounds, open: new Set(), nodes: 0, tagged: false };
  const tree = toTree(value, walk, "", 0);
  const json = JSON.stringify(tree);
  if (json.length > bounds.maxChars) {
    throw new ValueError("VALUE_TOO_LARGE", `The value is ${json.length} characters of JSON, the bound is ${bounds.maxChars}`, "");
  }
  return { json, tagged: walk.tagged };
}

function tag(walk: Walk, name: string, payload?: unknown): unknown {
  walk.tagged = true;
  return payload === undefined ? { [TAG]: name } : { [TAG]: name, v: payload };
}

function toTree(value: unknown, walk: Walk, path: string, depth: number): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return Object.is(value, -0) ? tag(walk, "-0") : value;
      return tag(walk, Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf");
    case "undefined":
      return tag(walk, "undefined");
    case "bigint":
      return tag(walk, "bigint", value.toString());
    case "object":
      return value === null ? null : objectToTree(value, walk, path, depth);
    case "function":
    case "symbol":
      throw new ValueError("VALUE_UNSUPPORTED", `A ${typeof value} cannot cross (at ${path || "the top"}); pass plain data`, path);
  }
}

function objectToTree(value: object, walk: Walk, path: string, depth: number): unknown {
  if (depth >= walk.bounds.maxDepth) {
    throw new ValueError("VALUE_TOO_LARGE", `The value is nested deeper than ${walk.bounds.maxDepth} (at ${path})`, path);
  }
  if (walk.open.has(value)) {
    throw new ValueError("VALUE_UNSUPPORTED", `The value contains itself (at ${path || "the top"}); a cycle cannot cross`, path);
  }
  walk.open.add(value);
  const tree = containerToTree(value, walk, path, depth);
  walk.open.delete(value);
  return tree;
}

function count(walk: Walk, nodes: number, path: string): void {
  walk.nodes += nodes;
  if (walk.nodes > walk.bounds.maxNodes) {
    throw new ValueError("VALUE_TOO_LARGE", `The value has more than ${walk.bounds.maxNodes} items and properties`, path);
  }
}

function containerToTree(value: object, walk: Walk, path: string, depth: number): unknown {
  if (Array.isArray(value)) return arrayToTree(value, walk, path, depth);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return recordToTree(value as Record<string, unknown>, walk, path, depth);
  if (value instanceof Date) {
    const time = value.getTime();
    return tag(walk, "date", Number.isNaN(time) ? null : time);
  }
  if (value instanceof Map) {
    count(walk, value.size * 2, path);
    const entries = [...value].map(([key, item], index) => [toTree(key, walk, `${path}/${index}/key`, depth + 1), toTree(item, walk, `${path}/${index}`, depth + 1)]);
    return tag(walk, "map", entries);
  }
  if (value instanceof Set) {
    count(walk, value.size, path);
    return tag(walk, "set", [...value].map((item, index) => toTree(item, walk, `${path}/${index}`, depth + 1)));
  }
  if (ArrayBuffer.isView(value)) return tag(walk, "bytes", toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)));
  if (value instanceof ArrayBuffer) return tag(walk, "bytes", toBase64(new Uint8Array(value)));
  if (value instanceof Error) {
    const code = (value as { code?: unknown }).code;
    return tag(walk, "error", typeof code === "string" ? [value.name, value.message, code] : [value.name, value.message]);
  }
  const name = (value as { constructor?: { name?: unknown } }).constructor?.name;
  throw new ValueError(
    "VALUE_UNSUPPORTED",
    `An instance of ${typeof name === "string" && name !== "" ? name : "a class"} cannot cross (at ${path || "the top"}); pass a plain object or a string`,
    path,
  );
}

function arrayToTree(value: readonly unknown[], walk: Walk, path: string, depth: number): unknown {
  const { length } = value;
  count(walk, length, path);
  const tree: unknown[] = [];
  for (let index = 0; index < length; index++) {
    tree.push(Object.hasOwn(value, index) ? toTree(value[index], walk, `${path}/${index}`, depth + 1) : tag(walk, "hole"));
  }
  return tree;
}

function recordToTree(value: Record<string, unknown>, walk: Walk, path: string, depth: number): unknown {
  const keys = Object.keys(value);
  count(walk, keys.length, path);
  if (Object.hasOwn(value, TAG)) {
    const entries = keys.map((key) => [key, toTree(value[key], walk, `${path}/${escapePointer(key)}`, depth + 1)]);
    return tag(walk, "object", entries);
  }
  const tree: Record<string, unknown> = {};
  for (const key of keys) setOwn(tree, key, toTree(value[key], walk, `${path}/${escapePointer(key)}`, depth + 1));
  return tree;
}

/** Sets an own property even where the name is `__proto__`. */
function setOwn(target: object, key: string, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else (target as Record<string, unknown>)[key] = value;
}

function escapePointer(key: string): string {
  return key.includes("~") || key.includes("/") ? key.replace(/~/g, "~0").replace(/\//g, "~1") : key;
}

/**
 * Rebuilds plain data from text. Throws `ValueError` VALUE_UNSUPPORTED for text that no encoder writes and
 * VALUE_TOO_LARGE past `bounds`; never sets a prototype.
 */
export function decodeValue(wire: WireValue, bounds: ValueBounds = defaultValueBounds): unknown {
  if (wire.json.length > bounds.maxChars) {
    throw new ValueError("VALUE_TOO_LARGE", `The value is ${wire.json.length} characters of JSON, the bound is ${bounds.maxChars}`, "");
  }
  let tree: unknown;
  try {
    tree = JSON.parse(wire.json);
  } catch {
    throw new ValueError("VALUE_UNSUPPORTED", "The value is not JSON", "");
  }
  return wire.tagged ? fromTree(tree, bounds, 0) : tree;
}

function malformed(): never {
  throw new ValueError("VALUE_UNSUPPORTED", "The value is not what an encoder writes", "");
}

function fromTree(tree: unknown, bounds: ValueBounds, depth: number): unknown {
  if (typeof tree !== "object" || tree === null) return tree;
  if (depth > bounds.maxDepth * 3) throw new ValueError("VALUE_TOO_LARGE", `The value is nested deeper than ${bounds.maxDepth}`, "");
  if (Array.isArray(tree)) return arrayFromTree(tree, bounds, depth);
  const record = tree as Record<string, unknown>;
  if (Object.hasOwn(record, TAG)) return fromTag(record[TAG], record["v"], bounds, depth);
  const value: Record<string, unknown> = {};
  for (const key of Object.keys(record)) setOwn(value, key, fromTree(record[key], bounds, depth + 1));
  return value;
}

function arrayFromTree(tree: readonly unknown[], bounds: ValueBounds, depth: number): unknown[] {
  const value: unknown[] = [];
  value.length = tree.length;
  for (let index = 0; index < tree.length; index++) {
    const item = tree[index];
    if (typeof item === "object" && item !== null && Object.hasOwn(item, TAG) && (item as Record<string, unknown>)[TAG] === "hole") continue;
    value[index] = fromTree(item, bounds, depth + 1);
  }
  return value;
}

function fromTag(name: unknown, payload: unknown, bounds: ValueBounds, depth: number): unknown {
  switch (name) {
    case "undefined":
      return undefined;
    case "nan":
      return Number.NaN;
    case "inf":
      return Number.POSITIVE_INFINITY;
    case "-inf":
      return Number.NEGATIVE_INFINITY;
    case "-0":
      return -0;
    case "bigint":
      return typeof payload === "string" && /^-?\d+$/.test(payload) ? BigInt(payload) : malformed();
    case "date":
      return payload === null || payload === undefined ? new Date(Number.NaN) : typeof payload === "number" ? new Date(payload) : malformed();
    case "bytes":
      return typeof payload === "string" ? fromBase64(payload) : malformed();
    case "map":
      return new Map(pairs(payload).map(([key, item]) => [fromTree(key, bounds, depth + 1), fromTree(item, bounds, depth + 1)]));
    case "set":
      return Array.isArray(payload) ? new Set(payload.map((item) => fromTree(item, bounds, depth + 1))) : malformed();
    case "object": {
      const value: Record<string, unknown> = {};
      for (const [key, item] of pairs(payload)) setOwn(value, typeof key === "string" ? key : malformed(), fromTree(item, bounds, depth + 1));
      return value;
    }
    case "error":
      return errorFrom(payload);
    default:
      return malformed();
  }
}

function pairs(payload: unknown): readonly (readonly [unknown, unknown])[] {
  if (!Array.isArray(payload)) return malformed();
  return payload.map((pair: unknown) => (Array.isArray(pair) && pair.length === 2 ? [pair[0], pair[1]] : malformed()));
}

function errorFrom(payload: unknown): Error {
  if (!Array.isArray(payload) || !payload.every((part) => typeof part === "string")) return malformed();
  const [name = "Error", message = "", code] = payload as string[];
  const error = new Error(message);
  error.name = name;
  delete error.stack;
  return code === undefined ? error : Object.assign(error, { code });
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += 4096) binary += String.fromCharCode(...bytes.subarray(start, start + 4096));
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array {
  try {
    const binary = atob(text);
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return malformed();
  }
}
