// Runs on both sides of the wall: the host imports it, and JavaScript guests have it bundled into their prelude, where
// it is loaded before any program. So it and what it
// imports take every built-in it uses when it is loaded, and never
// reads a property that hostile code could have planted: no toJSON, no iterators, no species, no `length` of a
// prototype, no index setters.

import { toBase64 } from "./base64.ts";
import { bufferBytes, dataBuffer, dataBytes, dataOffset, dateTime, ErrorPrototype, getOwnPropertySymbols, getPrototypeOf, hasOwn, is, isArray, isFinite, isView, keysOf, mapForEach, mapSize, ObjectPrototype, PromisePrototype, SafeUint8Array, setForEach, setSize, slice, stringify, typedBuffer, typedBytes, typedOffset, viewTag } from "./value-intrinsics.ts";

/**
 * A value as text. `json` is JSON; where `tagged` is false it is the value itself and `JSON.parse` is all it takes,
 * which is what makes large plain results cheap. Where it is true, objects with the key `$cg` stand for values JSON
 * has no word for.
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
  /** The bound that was passed, for VALUE_TOO_LARGE. */
  readonly bound: keyof ValueBounds | undefined;

  constructor(code: ValueErrorCode, message: string, place: string | { readonly path: string; readonly bound?: keyof ValueBounds }) {
    super(message);
    this.code = code;
    this.path = typeof place === "string" ? place : place.path;
    this.bound = typeof place === "string" ? undefined : place.bound;
  }
}

/** The key that marks an object as standing for another value. */
export const TAG = "$cg";
const maxDigits = 100_000;
/** Listing the keys of a long list costs as much as writing it. */
const maxListed = 1_000;
const symbolNamed = "A property named by a symbol cannot cross";

/** Where the walk is: a linked list, because a hostile index setter on Array.prototype would see an array's writes. */
interface Frame {
  readonly parent: Frame | undefined;
  readonly value: object;
  key: string | number;
}

interface Walk {
  readonly bounds: ValueBounds;
  nodes: number;
  depth: number;
  tagged: boolean;
}

/**
 * Turns a value of the host's own into text.
 *
 * JSON values, `undefined`, NaN, ±Infinity, -0, BigInt, Date, Map, Set, typed arrays, DataView, ArrayBuffer, Error
 * (name, message, code and its own enumerable properties; no stack, no cause), array holes and named properties of arrays (what a RegExp match has) cross; a Node Buffer
 * arrives as Uint8Array, a null-prototype object as a plain one, a shared reference is written twice. Named properties
 * of bytes and of lists of more than 1,000 items are not looked for: that would cost more than sending them.
 * Throws `ValueError`: VALUE_UNSUPPORTED for cycles, functions, symbols, promises, instances of other classes and
 * properties somebody gave to a Date, Map or Set; VALUE_TOO_LARGE past `bounds`. What a getter or proxy throws passes
 * through.
 *
 * Plain JSON data is looked over and then written by the platform's own JSON.stringify, several times faster than
 * anything written here: 200,000 rows in about a tenth of a second. So its properties are read twice; a value somebody
 * hostile may have made is for `encodeValueOnce`.
 */
export function encodeValue(value: unknown, bounds: ValueBounds = defaultValueBounds): WireValue {
  const walk: Walk = { bounds, nodes: 0, depth: 0, tagged: false };
  if (hasForeignToJson() || !isPlain(value, walk)) return encodeValueOnce(value, bounds);
  const json = stringify(value);
  checkChars(json.length, walk, undefined);
  return { json, tagged: false };
}

/** `encodeValue` that reads every property exactly once and trusts no prototype. What guests are given. */
export function encodeValueOnce(value: unknown, bounds: ValueBounds = defaultValueBounds): WireValue {
  const walk: Walk = { bounds, nodes: 0, depth: 0, tagged: false };
  const json = write(value, walk, undefined);
  checkChars(json.length, walk, undefined);
  return { json, tagged: walk.tagged };
}

/** Some libraries teach JSON.stringify by way of prototypes; then it is not asked. */
function hasForeignToJson(): boolean {
  return "toJSON" in {} || "toJSON" in [];
}

/** Whether JSON says all of the value. Anything doubtful, bounds included, is left to the careful walk. */
function isPlain(value: unknown, walk: Walk): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return isFinite(value) && !(value === 0 && is(value, -0));
  if (typeof value !== "object" || walk.depth >= walk.bounds.maxDepth) return false;
  walk.depth += 1;
  const isAllPlain = isArray(value) ? isPlainArray(value, walk) : isPlainRecord(value as Record<string, unknown>, walk);
  walk.depth -= 1;
  return isAllPlain;
}

function isPlainArray(value: readonly unknown[], walk: Walk): boolean {
  walk.nodes += value.length;
  // Holes and named properties are the careful walk's.
  if (walk.nodes > walk.bounds.maxNodes || (value.length <= maxListed && hasNamed(value))) return false;
  for (let index = 0; index < value.length; index++) if (!isPlain(value[index], walk)) return false;
  return true;
}

/** Holes and properties beside the items. */
function hasNamed(value: readonly unknown[]): boolean {
  return keysOf(value).length !== value.length || getOwnPropertySymbols(value).length > 0;
}

function isPlainRecord(value: Record<string, unknown>, walk: Walk): boolean {
  const prototype: unknown = getPrototypeOf(value);
  if ((prototype !== ObjectPrototype && prototype !== null) || getOwnPropertySymbols(value).length > 0) return false;
  for (const key in value) {
    if (!hasOwn(value, key)) continue;
    walk.nodes += 1;
    if (key === TAG || key === "toJSON" || walk.nodes > walk.bounds.maxNodes || !isPlain(value[key], walk)) return false;
  }
  return true;
}

/** JSON Pointer of the place the walk is at. */
function pathOf(frame: Frame | undefined): string {
  let path = "";
  for (let at = frame; at !== undefined; at = at.parent) path = `/${escapePointer(`${at.key}`)}${path}`;
  return path;
}

function escapePointer(key: string): string {
  let escaped = "";
  for (let index = 0; index < key.length; index++) {
    const character = slice(key, index, index + 1);
    escaped += character === "~" ? "~0" : character === "/" ? "~1" : character;
  }
  return escaped;
}

function unsupported(what: string, frame: Frame | undefined): never {
  const path = pathOf(frame);
  throw new ValueError("VALUE_UNSUPPORTED", `${what} (at ${path === "" ? "the top" : path})`, { path });
}

function checkChars(chars: number, walk: Walk, frame: Frame | undefined): void {
  if (chars <= walk.bounds.maxChars) return;
  throw new ValueError("VALUE_TOO_LARGE", `The value is over ${walk.bounds.maxChars} characters of JSON`, { path: pathOf(frame), bound: "maxChars" });
}

function count(nodes: number, walk: Walk, frame: Frame | undefined): void {
  walk.nodes += nodes;
  if (walk.nodes <= walk.bounds.maxNodes) return;
  throw new ValueError("VALUE_TOO_LARGE", `The value has more than ${walk.bounds.maxNodes} items and properties`, { path: pathOf(frame), bound: "maxNodes" });
}

function tag(name: string, walk: Walk, payload?: string): string {
  walk.tagged = true;
  return payload === undefined ? `{"${TAG}":"${name}"}` : `{"${TAG}":"${name}","v":${payload}}`;
}

function write(value: unknown, walk: Walk, frame: Frame | undefined): string {
  switch (typeof value) {
    case "string":
      // stringify writes lone surrogates as escapes, so they survive UTF-8.
      return stringify(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (isFinite(value)) return value === 0 && is(value, -0) ? tag("-0", walk) : `${value}`;
      return tag(value > 0 ? "inf" : value < 0 ? "-inf" : "nan", walk);
    case "undefined":
      return tag("undefined", walk);
    case "bigint":
      return tag("bigint", walk, `"${checkDigits(`${value}`)}"`);
    case "object":
      return value === null ? "null" : writeObject(value, walk, frame);
    case "function":
    case "symbol":
      return unsupported(`A ${typeof value} cannot cross; pass plain data`, frame);
  }
}

/** Turning digits into a BigInt costs more than linear time. */
export function checkDigits(text: string): string {
  if (text.length <= maxDigits) return text;
  throw new ValueError("VALUE_TOO_LARGE", `A BigInt of more than ${maxDigits} digits cannot cross`, { path: "" });
}

function writeObject(value: object, walk: Walk, parent: Frame | undefined): string {
  if (walk.depth >= walk.bounds.maxDepth) {
    throw new ValueError("VALUE_TOO_LARGE", `The value is nested deeper than ${walk.bounds.maxDepth}`, { path: pathOf(parent), bound: "maxDepth" });
  }
  for (let at = parent; at !== undefined; at = at.parent) {
    if (at.value === value) unsupported("The value contains itself; a cycle cannot cross", parent);
  }
  const frame: Frame = { parent, value, key: "" };
  walk.depth += 1;
  const text = isArray(value) ? writeArray(value, walk, frame) : writeNonArray(value, walk, frame);
  walk.depth -= 1;
  checkChars(text.length, walk, frame.parent);
  return text;
}

function writeArray(value: readonly unknown[], walk: Walk, frame: Frame): string {
  const { length } = value;
  count(length, walk, frame.parent);
  let text = "[";
  for (let index = 0; index < length; index++) {
    frame.key = index;
    const item = value[index];
    const written = item === undefined && !hasOwn(value, index) ? tag("hole", walk) : write(item, walk, frame);
    text += index === 0 ? written : `,${written}`;
  }
  const named = writeNamed(value, walk, frame);
  return named === "" ? `${text}]` : tag("array", walk, `[${text}],[${named}]]`);
}

/** Properties of an array beside its items, as entries. `Object.keys` lists items first. */
function writeNamed(value: readonly unknown[], walk: Walk, frame: Frame): string {
  if (value.length > maxListed) return "";
  if (getOwnPropertySymbols(value).length > 0) return unsupported(symbolNamed, frame.parent);
  const keys = keysOf(value);
  let text = "";
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] as string;
    if (isItemKey(key, value.length)) break;
    frame.key = key;
    count(1, walk, frame.parent);
    const entry = `[${stringify(key)},${write((value as unknown as Record<string, unknown>)[key], walk, frame)}]`;
    text = text === "" ? entry : `${entry},${text}`;
  }
  return text;
}

/** Whether a key names an item; "01" and "-1" do not. */
function isItemKey(key: string, length: number): boolean {
  const index = +key;
  return index >= 0 && index < length && `${index}` === key && index % 1 === 0;
}

function writeNonArray(value: object, walk: Walk, frame: Frame): string {
  const prototype: unknown = getPrototypeOf(value);
  if (prototype === ObjectPrototype || prototype === null) return writeRecord(value as Record<string, unknown>, walk, frame);
  if (isView(value)) return writeView(value, walk);
  const branded = writeBranded(value, walk, frame);
  if (branded !== undefined) return branded;
  // An object of another realm (a vm context, a frame): its prototype is that realm's Object.prototype.
  if (getPrototypeOf(prototype) === null && hasOwn(prototype as object, "isPrototypeOf")) return writeRecord(value as Record<string, unknown>, walk, frame);
  if (hasPrototype(value, PromisePrototype)) return unsupported("A promise cannot cross; await it first", frame.parent);
  const constructor = hasOwn(prototype as object, "constructor") ? (prototype as { constructor: unknown }).constructor : undefined;
  const name = typeof constructor === "function" ? (constructor as { name: unknown }).name : undefined;
  return unsupported(`An instance of ${typeof name === "string" && name !== "" ? name : "a class"} cannot cross; pass a plain object or a string`, frame.parent);
}

function hasPrototype(value: object, prototype: unknown): boolean {
  for (let at: unknown = getPrototypeOf(value); at !== null; at = getPrototypeOf(at)) if (at === prototype) return true;
  return false;
}

function writeRecord(value: Record<string, unknown>, walk: Walk, frame: Frame): string {
  const keys = keysOf(value);
  count(keys.length, walk, frame.parent);
  if (getOwnPropertySymbols(value).length > 0) return unsupported(symbolNamed, frame.parent);
  const asEntries = hasOwn(value, TAG);
  let text = "";
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    frame.key = key;
    const item = write(value[key], walk, frame);
    if (index > 0) text += ",";
    text += asEntries ? `[${stringify(key)},${item}]` : `${stringify(key)}:${item}`;
  }
  return asEntries ? tag("object", walk, `[${text}]`) : `{${text}}`;
}

/** Only the built-in itself answers to these methods; what merely looks like one makes them throw. */
function brandOf(value: object): "date" | "map" | "set" | "buffer" | undefined {
  try {
    dateTime(value);
    return "date";
  } catch {}
  try {
    mapSize(value);
    return "map";
  } catch {}
  try {
    setSize(value);
    return "set";
  } catch {}
  try {
    bufferBytes(value);
    return "buffer";
  } catch {}
  return undefined;
}

function writeBranded(value: object, walk: Walk, frame: Frame): string | undefined {
  if (hasPrototype(value, ErrorPrototype)) return writeError(value as Error, walk, frame);
  const brand = brandOf(value);
  // A subclass would come out as its base: refuse it like every other class.
  if (brand === undefined || getPrototypeOf(getPrototypeOf(getPrototypeOf(value))) !== null) return undefined;
  if (brand !== "buffer" && (keysOf(value).length > 0 || getOwnPropertySymbols(value).length > 0)) {
    return unsupported(`A ${brand === "date" ? "Date" : brand === "map" ? "Map" : "Set"} with properties of its own cannot cross; pass a plain object`, frame.parent);
  }
  if (brand === "date") {
    const time = dateTime(value);
    return tag("date", walk, is(time, Number.NaN) ? "null" : `${time}`);
  }
  if (brand === "buffer") return tag("buffer", walk, `"${toBase64(new SafeUint8Array(value as ArrayBuffer))}"`);
  const size = (brand === "map" ? mapSize(value) : setSize(value)) as number;
  count(brand === "map" ? size * 2 : size, walk, frame.parent);
  let text = "";
  let index = 0;
  const add = (item: unknown, key: unknown): void => {
    frame.key = index;
    if (index > 0) text += ",";
    index += 1;
    text += brand === "map" ? `[${write(key, walk, frame)},${write(item, walk, frame)}]` : write(item, walk, frame);
  };
  if (brand === "map") mapForEach(value, add);
  else setForEach(value, add);
  return tag(brand, walk, `[${text}]`);
}

function writeView(value: ArrayBufferView, walk: Walk): string {
  const name = viewTag(value) as string | undefined;
  const typed = name !== undefined;
  const buffer = (typed ? typedBuffer : dataBuffer)(value) as ArrayBuffer;
  const offset = (typed ? typedOffset : dataOffset)(value) as number;
  const bytes = new SafeUint8Array(buffer, offset, (typed ? typedBytes : dataBytes)(value) as number);
  const base64 = toBase64(bytes);
  return name === "Uint8Array" ? tag("bytes", walk, `"${base64}"`) : tag("view", walk, `["${name ?? "DataView"}","${base64}"]`);
}

/** Name, message, code where it is a text, and what else somebody gave to it: `tool` and `details` of a failed call. */
function writeError(value: Error, walk: Walk, frame: Frame): string {
  const { name, message } = value;
  let code: unknown;
  let more = "";
  const keys = keysOf(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if (key === "name" || key === "message" || key === "stack") continue;
    frame.key = key;
    const item = (value as unknown as Record<string, unknown>)[key];
    if (key === "code" && typeof item === "string") code = item;
    else {
      count(1, walk, frame.parent);
      more += `${more === "" ? "" : ","}[${stringify(key)},${write(item, walk, frame)}]`;
    }
  }
  if (!hasOwn(value, "code")) ({ code } = value as { code?: unknown });
  const parts = `${stringify(typeof name === "string" ? name : "Error")},${stringify(typeof message === "string" ? message : "")}`;
  const coded = typeof code === "string" ? `,${stringify(code)}` : more === "" ? "" : ",null";
  return tag("error", walk, `[${parts}${coded}${more === "" ? "" : `,[${more}]`}]`);
}
