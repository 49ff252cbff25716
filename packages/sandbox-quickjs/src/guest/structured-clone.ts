import { SafeDate, SafeError, SafeMap, SafeTypeError, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, hasPrototype, isArray, keys, mapGet, mapSet, uncurry } from "./intrinsics.ts";

const getOf = (prototype: object, key: PropertyKey) => uncurry(getOwnPropertyDescriptor(prototype, key)?.get as () => unknown);
const [mapSize, setSize, bufferBytes] = [getOf(Map.prototype, "size"), getOf(Set.prototype, "size"), getOf(ArrayBuffer.prototype, "byteLength")];
const [mapForEach, setForEach, setAdd] = [uncurry(Map.prototype.forEach), uncurry(Set.prototype.forEach), uncurry(Set.prototype.add)];
const dateTime = uncurry(Date.prototype.getTime);
const bufferSlice = uncurry(ArrayBuffer.prototype.slice);
const [regExpSource, regExpFlags] = [getOf(RegExp.prototype, "source"), getOf(RegExp.prototype, "flags")];
const [SafeSet, SafeRegExp, SafeDataView] = [Set, RegExp, DataView];
const { isView } = ArrayBuffer;
const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;
const viewTag = getOf(TypedArrayPrototype, Symbol.toStringTag);
const views: Record<string, new (buffer: ArrayBuffer, offset: number, length: number) => ArrayBufferView> = {
  __proto__: null as never,
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array,
};

type Seen = Map<object, object>;

/** A deep copy with cycles and shared references kept. Throws a DataCloneError for functions, symbols and promises. */
export function structuredClone(value: unknown): unknown {
  return clone(value, new SafeMap());
}

function clone(value: unknown, seen: Seen): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw notCloneable(`a ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  const known = mapGet(seen, value as never);
  if (known !== undefined) return known;
  const remember = <T extends object>(copy: T): T => {
    mapSet(seen, value as never, copy as never);
    return copy;
  };
  if (isArray(value)) {
    const copy: unknown[] = [];
    copy.length = value.length;
    return copyProperties(value, remember(copy), seen);
  }
  if (isView(value)) return remember(cloneView(value, seen));
  if (hasPrototype(value, Error.prototype)) return cloneError(value as Error, remember);
  if (hasPrototype(value, Promise.prototype)) throw notCloneable("a promise");
  return cloneBranded(value, remember, seen) ?? copyProperties(value, remember({}), seen);
}

function cloneBranded(value: object, remember: <T extends object>(copy: T) => T, seen: Seen): object | undefined {
  if (answers(dateTime, value)) return remember(new SafeDate(dateTime(value) as number));
  if (answers(mapSize, value)) {
    const copy = remember(new SafeMap());
    mapForEach(value, ((item: unknown, key: unknown) => mapSet(copy, clone(key, seen) as never, clone(item, seen) as never)) as never);
    return copy;
  }
  if (answers(setSize, value)) {
    const copy = remember(new SafeSet());
    setForEach(value, ((item: unknown) => setAdd(copy, clone(item, seen) as never)) as never);
    return copy;
  }
  if (answers(bufferBytes, value)) return remember(bufferSlice(value, 0 as never) as ArrayBuffer);
  if (hasPrototype(value, RegExp.prototype)) return remember(new SafeRegExp(regExpSource(value) as string, regExpFlags(value) as string));
  return undefined;
}

/** Whether the built-in method takes `value` as one of its own. */
function answers(method: (self: unknown) => unknown, value: object): boolean {
  try {
    method(value);
    return true;
  } catch {
    return false;
  }
}

function copyProperties(value: object, copy: object, seen: Seen): object {
  const names = keys(value);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    defineProperty(copy, name, { __proto__: null, value: clone((value as Record<string, unknown>)[name], seen), writable: true, configurable: true, enumerable: true } as PropertyDescriptor);
  }
  return copy;
}

function cloneView(value: ArrayBufferView, seen: Seen): ArrayBufferView {
  const buffer = clone(value.buffer, seen) as ArrayBuffer;
  const View = views[(viewTag(value) as string | undefined) ?? ""];
  return View === undefined ? new SafeDataView(buffer, value.byteOffset, value.byteLength) : new View(buffer, value.byteOffset, (value as Uint8Array).length);
}

function cloneError(value: Error, remember: <T extends object>(copy: T) => T): Error {
  const copy = remember(new SafeError(typeof value.message === "string" ? value.message : ""));
  for (const name of ["name", "stack"] as const) {
    if (hasOwn(value, name) || name === "name") defineProperty(copy, name, { __proto__: null, value: value[name], writable: true, configurable: true, enumerable: false } as PropertyDescriptor);
  }
  return copy;
}

function notCloneable(what: string): Error {
  const error = new SafeTypeError(`structuredClone cannot copy ${what}`);
  defineProperty(error, "name", { __proto__: null, value: "DataCloneError", writable: true, configurable: true, enumerable: false } as PropertyDescriptor);
  return error;
}
