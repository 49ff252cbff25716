import type { Pointer } from "../engine/abi.ts";
import type { PreparedEngine } from "./engine.ts";

/** Values in and out of one engine. What is returned as a pointer is owned by the caller, arguments of `call` by `call`. */
export interface EngineValues {
  readonly number: (value: number) => Pointer;
  /** 0 when the guest's memory has no room for the text. */
  readonly text: (text: string) => Pointer;
  /** The value of bytes in the engine's binary form. 0 when it could not be built there: no memory, too deep. */
  readonly binary: (bytes: Uint8Array) => Pointer;
  /** One of the values a host call was given. */
  readonly numberAt: (values: Pointer, index: number) => number;
  readonly textAt: (values: Pointer, index: number) => string;
  call(entry: Pointer, values: readonly Pointer[]): Pointer;
  /** What was thrown, when `value` is the mark of an exception, else 0. */
  thrown(value: Pointer): Pointer;
  free(value: Pointer): void;
}

export function createEngineValues({ instance, parts }: PreparedEngine): EngineValues {
  const { exports } = instance;
  const { context } = parts;
  /** Values are eight bytes: the build packs numbers and pointers into a NaN. */
  const valueBytes = 8;
  const thrown = (value: Pointer): Pointer => exports.resolveException(context, value);
  const orNone = (value: Pointer): Pointer => {
    const failure = value === 0 ? 0 : thrown(value);
    if (failure === 0) return value;
    exports.freeValue(context, failure);
    return 0;
  };
  return {
    number: (value) => exports.newFloat64(context, value),
    text(text) {
      const { pointer } = instance.writeText(text);
      if (pointer === 0) return 0;
      const value = exports.newString(context, pointer);
      exports.free(pointer);
      return orNone(value);
    },
    binary(bytes) {
      const pointer = exports.malloc(bytes.length);
      if (pointer === 0) return 0;
      instance.bytes().set(bytes, pointer);
      const buffer = orNone(exports.newArrayBuffer(context, pointer, bytes.length));
      if (buffer === 0) return 0;
      const value = exports.decodeBinary(context, buffer);
      exports.freeValue(context, buffer);
      return orNone(value);
    },
    numberAt: (values, index) => exports.getFloat64(context, values + index * valueBytes),
    textAt(values, index) {
      const pointer = exports.getString(context, values + index * valueBytes);
      if (pointer === 0) throw new RangeError("out of memory while reading from the guest");
      const text = instance.readText(pointer);
      exports.freeCString(context, pointer);
      return text;
    },
    call(entry, values) {
      const memory = instance.bytes();
      values.forEach((value, index) => memory.writeUInt32LE(value, parts.scratch + index * 4));
      const result = exports.call(context, entry, exports.getUndefined(), values.length, parts.scratch);
      for (const value of values) exports.freeValue(context, value);
      return result;
    },
    thrown,
    free: (value) => exports.freeValue(context, value),
  };
}
