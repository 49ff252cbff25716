import { SafeRangeError, SafeTypeError, SafeUint8Array, defineProperty, freeze, getPrototypeOf, slice, uncurry } from "./intrinsics.ts";

const { parseInt } = Number;
const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;
const viewTag = uncurry(Object.getOwnPropertyDescriptor(TypedArrayPrototype, Symbol.toStringTag)?.get as () => string | undefined);
const viewBuffer = uncurry(Object.getOwnPropertyDescriptor(TypedArrayPrototype, "buffer")?.get as () => ArrayBuffer);
const viewOffset = uncurry(Object.getOwnPropertyDescriptor(TypedArrayPrototype, "byteOffset")?.get as () => number);
const viewBytes = uncurry(Object.getOwnPropertyDescriptor(TypedArrayPrototype, "byteLength")?.get as () => number);

/** 32 random bits at each call. */
export type Random32 = () => number;

/** sfc32, seeded by 32 hex digits. Statistical quality only: nothing a guest draws is a secret. */
export function createRandom(seed: string, stream: number): Random32 {
  let a = parseInt(slice(seed, 0, 8), 16) | 0;
  let b = parseInt(slice(seed, 8, 16), 16) | 0;
  let c = (parseInt(slice(seed, 16, 24), 16) ^ stream) | 0;
  let d = parseInt(slice(seed, 24, 32), 16) | 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 15; round++) next();
  return next;
}

/** Makes Math.random and crypto draw from the run's seed. `random` is asked at each draw, so a later seed counts. */
export function installRandom(random: () => { readonly math: Random32; readonly crypto: Random32 }): void {
  const next = (): number => {
    const { math } = random();
    return ((math() >>> 5) * 67_108_864 + (math() >>> 6)) / 9_007_199_254_740_992;
  };
  defineProperty(Math, "random", { value: { random: () => next() }.random, writable: true, configurable: true, enumerable: false });

  const fill = (bytes: Uint8Array): void => {
    const draw = random().crypto;
    for (let index = 0, word = 0; index < bytes.length; index++) {
      word = index % 4 === 0 ? draw() : word >>> 8;
      bytes[index] = word & 255;
    }
  };
  const crypto = {
    getRandomValues<T>(view: T): T {
      const kind = typeof view === "object" && view !== null ? viewTag(view) : undefined;
      if (kind === undefined || kind === "Float32Array" || kind === "Float64Array" || kind === "Float16Array") throw new SafeTypeError("crypto.getRandomValues takes an integer typed array");
      if (viewBytes(view) > 65_536) throw new SafeRangeError("crypto.getRandomValues fills at most 65,536 bytes at once");
      fill(new SafeUint8Array(viewBuffer(view), viewOffset(view), viewBytes(view)));
      return view;
    },
    randomUUID(): string {
      const bytes = new SafeUint8Array(16);
      fill(bytes);
      bytes[6] = ((bytes[6] as number) & 15) | 64;
      bytes[8] = ((bytes[8] as number) & 63) | 128;
      let text = "";
      for (let index = 0; index < 16; index++) {
        if (index === 4 || index === 6 || index === 8 || index === 10) text += "-";
        text += hexDigit((bytes[index] as number) >> 4) + hexDigit((bytes[index] as number) & 15);
      }
      return text;
    },
  };
  defineProperty(globalThis, "crypto", { value: freeze(crypto), writable: true, configurable: true, enumerable: false });
}

function hexDigit(value: number): string {
  return slice("0123456789abcdef", value, value + 1);
}
