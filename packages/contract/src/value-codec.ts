// Runs on both sides of the wall: the host imports it, and JavaScript guests have it bundled into their prelude, where
// it is loaded before any program. So it imports nothing, takes every built-in it uses when it is loaded, and never
// reads a property that hostile code could have planted: no toJSON, no iterators, no species, no `length` of a
// prototype, no index setters. It is one thing in one file for that reason.

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

  constructor(code: ValueErrorCode, message: string, path: string, bound?: keyof ValueBounds) {
    super(message);
    this.code = code;
    this.path = path;
    this.bound = bound;
  }
}

const TAG = "$cg";
const maxDigits = 100_000;

type Method = (this: never, ...args: never[]) => unknown;
type Uncurried<F extends Method> = (self: unknown, ...args: Parameters<F>) => ReturnType<F>;
const { bind, call } = Function.prototype;
const uncurry: <F extends Method>(method: F) => Uncurried<F> = bind.bind(call) as never;
const getterOf = (prototype: object, key: PropertyKey): ((self: unknown) => unknown) =>
  uncurry(Object.getOwnPropertyDescriptor(prototype, key)?.get as Method) as never;

const { isArray } = Array;
const { is, keys: keysOf, hasOwn, defineProperty, getPrototypeOf, getOwnPropertySymbols } = Object;
const ObjectPrototype: unknown = Object.prototype;
const { parse, stringify } = JSON;
const { isView } = ArrayBuffer;
const { isFinite } = Number;
const toBigInt = BigInt;
const [SafeDate, SafeMap, SafeSet, SafeError, SafeUint8Array, SafeArrayBuffer, SafeDataView] = [Date, Map, Set, Error, Uint8Array, ArrayBuffer, DataView];
const ErrorPrototype: unknown = Error.prototype;
const PromisePrototype: unknown = Promise.prototype;
const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;
const views: Readonly<Record<string, new (buffer: ArrayBuffer) => ArrayBufferView>> = {
  __proto__: null as never,
  Int8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array,
};

const dateTime = uncurry(Date.prototype.getTime);
const mapSize = getterOf(Map.prototype, "size");
const mapForEach = uncurry(Map.prototype.forEach);
const mapSet = uncurry(Map.prototype.set);
const setSize = getterOf(Set.prototype, "size");
const setForEach = uncurry(Set.prototype.forEach);
const setAdd = uncurry(Set.prototype.add);
const viewTag = getterOf(TypedArrayPrototype, Symbol.toStringTag);
const typedBuffer = getterOf(TypedArrayPrototype, "buffer");
const typedOffset = getterOf(TypedArrayPrototype, "byteOffset");
const typedBytes = getterOf(TypedArrayPrototype, "byteLength");
const typedLength = getterOf(TypedArrayPrototype, "length");
const dataBuffer = getterOf(DataView.prototype, "buffer");
const dataOffset = getterOf(DataView.prototype, "byteOffset");
const dataBytes = getterOf(DataView.prototype, "byteLength");
const bufferBytes = getterOf(ArrayBuffer.prototype, "byteLength");
const codeAt = uncurry(String.prototype.charCodeAt);
const slice = uncurry(String.prototype.slice);
const { fromCharCode } = String;
const { apply } = Reflect;
const subarray = uncurry(Uint8Array.prototype.subarray);
const match = uncurry(RegExp.prototype.exec);

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
 * Turns a value into text. Every property is read once.
 *
 * JSON values, `undefined`, NaN, ±Infinity, -0, BigInt, Date, Map, Set, typed arrays, DataView, ArrayBuffer, Error
 * (name, message, code) and array holes cross; a Node Buffer arrives as Uint8Array, a null-prototype object as a plain
 * one, a shared reference is written twice, non-index properties of arrays are left out.
 * Throws `ValueError`: VALUE_UNSUPPORTED for cycles, functions, symbols, promises and instances of other classes,
 * VALUE_TOO_LARGE past `bounds`. What a getter or proxy throws passes through.
 */
export function encodeValue(value: unknown, bounds: ValueBounds = defaultValueBounds): WireValue {
  const walk: Walk = { bounds, nodes: 0, depth: 0, tagged: false };
  const json = write(value, walk, undefined);
  checkChars(json.length, walk, undefined);
  return { json, tagged: walk.tagged };
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
  throw new ValueError("VALUE_UNSUPPORTED", `${what} (at ${path === "" ? "the top" : path})`, path);
}

function checkChars(chars: number, walk: Walk, frame: Frame | undefined): void {
  if (chars <= walk.bounds.maxChars) return;
  throw new ValueError("VALUE_TOO_LARGE", `The value is over ${walk.bounds.maxChars} characters of JSON`, pathOf(frame), "maxChars");
}

function count(nodes: number, walk: Walk, frame: Frame | undefined): void {
  walk.nodes += nodes;
  if (walk.nodes <= walk.bounds.maxNodes) return;
  throw new ValueError("VALUE_TOO_LARGE", `The value has more than ${walk.bounds.maxNodes} items and properties`, pathOf(frame), "maxNodes");
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
function checkDigits(text: string): string {
  if (text.length <= maxDigits) return text;
  throw new ValueError("VALUE_TOO_LARGE", `A BigInt of more than ${maxDigits} digits cannot cross`, "");
}

function writeObject(value: object, walk: Walk, parent: Frame | undefined): string {
  if (walk.depth >= walk.bounds.maxDepth) {
    throw new ValueError("VALUE_TOO_LARGE", `The value is nested deeper than ${walk.bounds.maxDepth}`, pathOf(parent), "maxDepth");
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
  return `${text}]`;
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
  if (getOwnPropertySymbols(value).length > 0) return unsupported("A property named by a symbol cannot cross", frame.parent);
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
  if (hasPrototype(value, ErrorPrototype)) return writeError(value as Error, walk);
  const brand = brandOf(value);
  // A subclass would come out as its base: refuse it like every other class.
  if (brand === undefined || getPrototypeOf(getPrototypeOf(getPrototypeOf(value))) !== null) return undefined;
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

function writeError(value: Error, walk: Walk): string {
  const { name, message } = value;
  const { code } = value as { code?: unknown };
  const parts = `${stringify(typeof name === "string" ? name : "Error")},${stringify(typeof message === "string" ? message : "")}`;
  return tag("error", walk, typeof code === "string" ? `[${parts},${stringify(code)}]` : `[${parts}]`);
}

/**
 * Rebuilds plain data from text. Throws `ValueError` VALUE_UNSUPPORTED for text that no encoder writes and
 * VALUE_TOO_LARGE past `bounds`. A key `__proto__` becomes a property of that name; no prototype is ever set.
 */
export function decodeValue(wire: WireValue, bounds: ValueBounds = defaultValueBounds): unknown {
  const { json } = wire;
  if (json.length > bounds.maxChars) {
    throw new ValueError("VALUE_TOO_LARGE", `The value is ${json.length} characters of JSON, the bound is ${bounds.maxChars}`, "", "maxChars");
  }
  checkShape(json, bounds);
  let tree: unknown;
  try {
    tree = parse(json);
  } catch {
    throw new ValueError("VALUE_UNSUPPORTED", "The value is not JSON", "");
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
      if (depth > maxDepth) throw new ValueError("VALUE_TOO_LARGE", `The value is nested deeper than ${bounds.maxDepth}`, "", "maxDepth");
    } else if (code === 93 || code === 125) depth -= 1;
  }
  // Tags cost up to four items for one of the value.
  if (nodes > bounds.maxNodes * 4 + 4) throw new ValueError("VALUE_TOO_LARGE", `The value has more than ${bounds.maxNodes} items and properties`, "", "maxNodes");
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
  throw new ValueError("VALUE_UNSUPPORTED", "The value is not what an encoder writes", "");
}

/** Replaces tags by what they stand for, in place: every slot written exists already, so no setter is ever met. */
function revive(tree: unknown): unknown {
  if (typeof tree !== "object" || tree === null) return tree;
  if (isArray(tree)) {
    for (let index = 0; index < tree.length; index++) {
      const item: unknown = tree[index];
      if (isTag(item) && item[TAG] === "hole") delete tree[index];
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
      return fromBase64(payload);
    case "buffer":
      return fromBase64(payload).buffer;
    case "view":
      return viewFrom(payload);
    case "map":
    case "set":
    case "object":
      return collectionFrom(name, isArray(payload) ? payload : malformed());
    case "error":
      return errorFrom(payload);
    default:
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

function dataProperty(value: unknown, enumerable: boolean): PropertyDescriptor {
  return { __proto__: null, value, enumerable, configurable: true, writable: true } as PropertyDescriptor;
}

function viewFrom(payload: unknown): ArrayBufferView {
  if (!isArray(payload) || payload.length !== 2 || typeof payload[0] !== "string") return malformed();
  const { buffer } = fromBase64(payload[1]);
  if (payload[0] === "DataView") return new SafeDataView(buffer);
  const View = views[payload[0]];
  return View === undefined ? malformed() : new View(buffer);
}

function errorFrom(payload: unknown): Error {
  if (!isArray(payload) || payload.length < 2 || payload.length > 3) return malformed();
  const name: unknown = payload[0];
  const message: unknown = payload[1];
  const code: unknown = payload.length === 3 ? payload[2] : "";
  if (typeof name !== "string" || typeof message !== "string" || typeof code !== "string") return malformed();
  const error = new SafeError(message);
  delete error.stack;
  if (name !== "Error") defineProperty(error, "name", dataProperty(name, false));
  if (payload.length === 3) defineProperty(error, "code", dataProperty(code, true));
  return error;
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
// Where the platform has its own (Node, browsers; not QuickJS), it is many times faster.
const [platformBtoa, platformAtob] = [globalThis.btoa as typeof btoa | undefined, globalThis.atob as typeof atob | undefined];

function toBase64(bytes: Uint8Array): string {
  const length = typedLength(bytes) as number;
  if (platformBtoa !== undefined) {
    let binary = "";
    for (let start = 0; start < length; start += 8192) binary += apply(fromCharCode, undefined, subarray(bytes, start, start + 8192) as never);
    return platformBtoa(binary);
  }
  let text = "";
  for (let index = 0; index < length; index += 3) {
    const left = length - index;
    const word = ((bytes[index] as number) << 16) | ((left > 1 ? (bytes[index + 1] as number) : 0) << 8) | (left > 2 ? (bytes[index + 2] as number) : 0);
    text += digit(word >> 18) + digit((word >> 12) & 63) + (left > 1 ? digit((word >> 6) & 63) : "=") + (left > 2 ? digit(word & 63) : "=");
  }
  return text;
}

function digit(value: number): string {
  return slice(digits, value, value + 1);
}

function fromBase64(text: unknown): Uint8Array<ArrayBuffer> {
  if (typeof text !== "string" || text.length % 4 !== 0) return malformed();
  const padding = slice(text, -2) === "==" ? 2 : slice(text, -1) === "=" ? 1 : 0;
  const bytes = new SafeUint8Array((text.length / 4) * 3 - padding);
  if (platformAtob !== undefined) {
    const binary = decodeWith(platformAtob, text);
    for (let index = 0; index < bytes.length; index++) bytes[index] = codeAt(binary, index);
    return bytes;
  }
  for (let index = 0, out = 0; index < text.length; index += 4, out += 3) {
    const word = (sextet(text, index) << 18) | (sextet(text, index + 1) << 12) | (sextet(text, index + 2) << 6) | sextet(text, index + 3);
    bytes[out] = word >> 16;
    bytes[out + 1] = (word >> 8) & 255;
    bytes[out + 2] = word & 255;
  }
  return bytes;
}

function decodeWith(decode: typeof atob, text: string): string {
  try {
    return decode(text);
  } catch {
    return malformed();
  }
}

function sextet(text: string, index: number): number {
  const code = codeAt(text, index);
  if (code >= 65 && code <= 90) return code - 65;
  if (code >= 97 && code <= 122) return code - 71;
  if (code >= 48 && code <= 57) return code + 4;
  if (code === 43) return 62;
  if (code === 47) return 63;
  if (code === 61 && index >= text.length - 2) return 0;
  return malformed();
}
