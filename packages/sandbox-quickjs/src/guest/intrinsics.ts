// Built-ins as they were before any program ran. Guest code of ours calls these, never a method of a value a program
// could have touched: it does not iterate arrays, assign new indexes, or use `instanceof`.

type Method = (this: never, ...args: never[]) => unknown;
type Uncurried<F extends Method> = (self: unknown, ...args: Parameters<F>) => ReturnType<F>;
const { bind, call } = Function.prototype;

/** `uncurry(f)(self, ...args)` is `f.call(self, ...args)`, whatever becomes of `call`. */
export const uncurry: <F extends Method>(method: F) => Uncurried<F> = bind.bind(call) as never;

export const { apply, ownKeys } = Reflect;
export const { create, defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, keys } = Object;
export const { isArray } = Array;
export const { parse, stringify } = JSON;
export const { min } = Math;
export const { isFinite } = Number;
export const SafePromise = Promise;
export const SafeError = Error;
export const SafeTypeError = TypeError;
export const SafeRangeError = RangeError;
export const SafeMap = Map;
export const SafeDate = Date;
export const SafeUint8Array = Uint8Array;
export const SafeProxy = Proxy;
export const { fromCharCode } = String;

export const promiseThen = uncurry(Promise.prototype.then);
export const mapGet = uncurry(Map.prototype.get);
export const mapSet = uncurry(Map.prototype.set);
export const mapDelete = uncurry(Map.prototype.delete);
export const charCodeAt = uncurry(String.prototype.charCodeAt);
export const codePointAt = uncurry(String.prototype.codePointAt);
export const slice = uncurry(String.prototype.slice);
export const indexOf = uncurry(String.prototype.indexOf);
export const toLowerCase = uncurry(String.prototype.toLowerCase);

/** Whether `prototype` is on the chain of `value`; unlike `instanceof`, nothing can answer for it. */
export function hasPrototype(value: object, prototype: unknown): boolean {
  for (let at: unknown = getPrototypeOf(value); at !== null; at = getPrototypeOf(at)) if (at === prototype) return true;
  return false;
}

/** Defines a global as the language does: writable and configurable, not enumerable. */
export function defineGlobal(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
