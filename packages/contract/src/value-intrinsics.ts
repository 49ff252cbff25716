// Built-ins as they were when this was loaded: in a guest, before any program ran. `uncurry(f)(self, ...args)` is
// `f.call(self, ...args)` whatever becomes of `call`.

type Method = (this: never, ...args: never[]) => unknown;
type Uncurried<F extends Method> = (self: unknown, ...args: Parameters<F>) => ReturnType<F>;
const { bind, call } = Function.prototype;
const uncurry: <F extends Method>(method: F) => Uncurried<F> = bind.bind(call) as never;
const getterOf = (prototype: object, key: PropertyKey): ((self: unknown) => unknown) =>
  uncurry(Object.getOwnPropertyDescriptor(prototype, key)?.get as Method) as never;

export const { isArray } = Array;
export const { is, keys: keysOf, hasOwn, defineProperty, getPrototypeOf, getOwnPropertySymbols } = Object;
export const ObjectPrototype: unknown = Object.prototype;
export const { parse, stringify } = JSON;
export const { isView } = ArrayBuffer;
export const { isFinite } = Number;
export const toBigInt = BigInt;
export const [SafeDate, SafeMap, SafeSet, SafeError, SafeUint8Array, SafeDataView] = [Date, Map, Set, Error, Uint8Array, DataView];
export const ErrorPrototype: unknown = Error.prototype;
export const PromisePrototype: unknown = Promise.prototype;
const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;
export const views: Readonly<Record<string, new (buffer: ArrayBuffer) => ArrayBufferView>> = {
  __proto__: null as never,
  Int8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array,
};

export const dateTime = uncurry(Date.prototype.getTime);
export const mapSize = getterOf(Map.prototype, "size");
export const mapForEach = uncurry(Map.prototype.forEach);
export const mapSet = uncurry(Map.prototype.set);
export const setSize = getterOf(Set.prototype, "size");
export const setForEach = uncurry(Set.prototype.forEach);
export const setAdd = uncurry(Set.prototype.add);
export const viewTag = getterOf(TypedArrayPrototype, Symbol.toStringTag);
export const typedBuffer = getterOf(TypedArrayPrototype, "buffer");
export const typedOffset = getterOf(TypedArrayPrototype, "byteOffset");
export const typedBytes = getterOf(TypedArrayPrototype, "byteLength");
export const typedLength = getterOf(TypedArrayPrototype, "length");
export const dataBuffer = getterOf(DataView.prototype, "buffer");
export const dataOffset = getterOf(DataView.prototype, "byteOffset");
export const dataBytes = getterOf(DataView.prototype, "byteLength");
export const bufferBytes = getterOf(ArrayBuffer.prototype, "byteLength");
export const codeAt = uncurry(String.prototype.charCodeAt);
export const slice = uncurry(String.prototype.slice);
export const { fromCharCode } = String;
export const { apply, deleteProperty } = Reflect;
export const subarray = uncurry(Uint8Array.prototype.subarray);
export const match = uncurry(RegExp.prototype.exec);
