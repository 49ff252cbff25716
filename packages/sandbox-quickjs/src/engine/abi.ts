// The binary interface of exactly one build: @jitl/quickjs-wasmfile-release-sync 0.32.0 (QuickJS 2025-09-13 behind
// quickjs-emscripten's c/interface.c). Its names were minified by the build, so they are read here, once, against the
// digest below; any other file is refused. Nothing of the package's JavaScript runs: these are all of its imports.

import type { WasmImports, WasmMemory } from "./web-assembly.ts";

/** SHA-256 of the one wasm file these names belong to. */
export const engineSha256 = "105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232";

/** An address in the engine's memory. */
export type Pointer = number;

/** Exported functions, by the name c/interface.c gives them. */
const exportNames = {
  callConstructors: "u",
  malloc: "v",
  setMaxStackSize: "D",
  getUndefined: "E",
  newHostRef: "I",
  newRuntime: "K",
  free: "M",
  newContext: "N",
  freeValue: "P",
  freeCString: "S",
  duplicate: "T",
  newFloat64: "Y",
  getFloat64: "Z",
  newString: "_",
  getString: "$",
  executePendingJob: "ga",
  isJobPending: "fa",
  getPropNumber: "ia",
  call: "ma",
  resolveException: "na",
  evaluate: "pa",
  promiseState: "wa",
  promiseResult: "xa",
  newFunction: "Da",
  newArrayBuffer: "X",
  decodeBinary: "Ka",
  enableInterruptHandler: "Fa",
  stackRestore: "Ma",
  stackPointer: "Oa",
} as const;

/**
 * The engine's functions. Pointers to values are owned by the caller and freed with `freeValue`, unless they were
 * handed to a host call (borrowed).
 */
export interface EngineExports {
  callConstructors(): void;
  malloc(bytes: number): Pointer;
  setMaxStackSize(runtime: Pointer, bytes: number): void;
  getUndefined(): Pointer;
  newHostRef(context: Pointer, id: number): Pointer;
  newRuntime(): Pointer;
  free(pointer: Pointer): void;
  newContext(runtime: Pointer, intrinsics: number): Pointer;
  freeValue(context: Pointer, value: Pointer): void;
  freeCString(context: Pointer, text: Pointer): void;
  /** A pointer of its own to the value at an address. */
  duplicate(context: Pointer, value: Pointer): Pointer;
  newFloat64(context: Pointer, value: number): Pointer;
  getFloat64(context: Pointer, value: Pointer): number;
  /** UTF-8, ended by a zero byte. */
  newString(context: Pointer, text: Pointer): Pointer;
  /** UTF-8, ended by a zero byte; 0 when out of memory. */
  getString(context: Pointer, value: Pointer): Pointer;
  executePendingJob(runtime: Pointer, maxJobs: number, contextOut: Pointer): Pointer;
  isJobPending(runtime: Pointer): number;
  getPropNumber(context: Pointer, object: Pointer, index: number): Pointer;
  call(context: Pointer, callee: Pointer, self: Pointer, count: number, argumentPointers: Pointer): Pointer;
  /** The thrown value, or 0 when `value` is not the mark of an exception. */
  resolveException(context: Pointer, value: Pointer): Pointer;
  evaluate(context: Pointer, text: Pointer, bytes: number, fileName: Pointer, detectModule: number, flags: number): Pointer;
  /** 0 pending, 1 fulfilled, 2 rejected, negative when it is no promise. */
  promiseState(context: Pointer, promise: Pointer): number;
  promiseResult(context: Pointer, promise: Pointer): Pointer;
  newFunction(context: Pointer, name: Pointer, length: number, isConstructor: number, hostRefId: number): Pointer;
  /** Takes over the bytes, which come from `malloc`. */
  newArrayBuffer(context: Pointer, bytes: Pointer, length: number): Pointer;
  /** Builds a value of the engine's own binary form (worker/json-to-binary.ts). Never to be given bytes a guest could choose. */
  decodeBinary(context: Pointer, buffer: Pointer): Pointer;
  enableInterruptHandler(runtime: Pointer): void;
  stackRestore(pointer: Pointer): void;
  stackPointer(): Pointer;
}

/** What the engine asks of its surroundings while it runs. None of these may throw. */
export interface EngineHooks {
  /** Milliseconds since the epoch; the guest's clock. */
  now(): number;
  /** True ends the running guest code with an error that it cannot catch. */
  shouldInterrupt(): boolean;
  /** The guest calls the host; `argumentValues` is an array of 8-byte values. Returns a value pointer or 0 for undefined. */
  callHost(context: Pointer, count: number, argumentValues: Pointer): Pointer;
  /**
   * A promise was rejected while nobody waits for it (`isHandled` false), or somebody began to wait for one of those.
   * `value` is what it was rejected with, borrowed, as the engine packs it into eight bytes.
   */
  rejected(promise: Pointer, value: bigint, isHandled: boolean): void;
  /** The heap wants to grow to `bytes` in all; true when it was grown. */
  grow(bytes: number): boolean;
}

/** The engine wanted to end the process: a broken invariant inside. The instance must be thrown away. */
class EngineAbort extends Error {
  override readonly name = "EngineAbort";
}

/** Gives the exports their names. */
export function nameExports(exports: Readonly<Record<string, unknown>>): EngineExports {
  const named: Record<string, unknown> = {};
  for (const [name, letter] of Object.entries(exportNames)) named[name] = exports[letter];
  return named as unknown as EngineExports;
}

/** The engine's imports. The guest has no environment, no files, no time zone but UTC. */
export function engineImports(memory: WasmMemory, hooks: Omit<EngineHooks, "rejected">): WasmImports {
  const abort = (): never => {
    throw new EngineAbort("The engine aborted");
  };
  const BADF = 8;
  return {
    a: {
      a: memory,
      b: abort, // assertion failed
      q: abort,
      r: abort, // process exit
      c: () => BADF, // file write
      d: () => BADF, // file close
      o: () => BADF, // file seek
      e: () => 0, // environment
      f: (count: Pointer, size: Pointer) => {
        const view = new DataView(memory.buffer);
        view.setUint32(count, 0, true);
        view.setUint32(size, 0, true);
        return 0;
      },
      j: () => -1, // interval timer
      l: () => {}, // keep-alive
      m: (seconds: bigint, out: Pointer) => writeUtc(new DataView(memory.buffer), Number(seconds), out),
      n: (...[zone, daylight, ...names]: readonly [Pointer, Pointer, Pointer, Pointer]) => {
        const view = new DataView(memory.buffer);
        view.setInt32(zone, 0, true);
        view.setInt32(daylight, 0, true);
        for (const name of names) new Uint8Array(memory.buffer).set([85, 84, 67, 0], name);
      },
      p: () => hooks.now(),
      k: (bytes: number) => (hooks.grow(bytes >>> 0) ? 1 : 0),
      s: (...[context, , count, values]: readonly [Pointer, Pointer, number, Pointer, number]) => hooks.callHost(context, count, values),
      i: () => (hooks.shouldInterrupt() ? 1 : 0),
      h: () => 0, // module source: there is none
      g: () => 0, // module name
      t: () => {}, // host reference freed: ours are never
    },
  };
}

function writeUtc(view: DataView, seconds: number, out: Pointer): void {
  const date = new Date(seconds * 1000);
  const yearStart = Date.UTC(date.getUTCFullYear(), 0, 1);
  const dayOfYear = Math.floor((date.getTime() - yearStart) / 86_400_000);
  const fields = [
    date.getUTCSeconds(),
    date.getUTCMinutes(),
    date.getUTCHours(),
    date.getUTCDate(),
    date.getUTCMonth(),
    date.getUTCFullYear() - 1900,
    date.getUTCDay(),
    dayOfYear,
    0,
    0,
  ];
  fields.forEach((field, index) => {
    view.setInt32(out + index * 4, Number.isNaN(field) ? 0 : field, true);
  });
}
