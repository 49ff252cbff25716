import type { Pointer } from "./abi.ts";
import { WebAssembly } from "./web-assembly.ts";
import type { WasmModule, WasmTable } from "./web-assembly.ts";

/** What the engine says: the context, the promise, what it was rejected with, whether somebody waits for it now, and 0. */
export type OnRejection = (...said: readonly [Pointer, bigint, bigint, number, number]) => void;

/**
 * A module that imports one function (i32, i64, i64, i32, i32) and exports it again: only functions of WebAssembly have a
 * type, and only those can be in a table.
 */
const typedFunction = Uint8Array.from([
  [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic, version 1
  [0x01, 0x09, 0x01, 0x60, 0x05, 0x7f, 0x7e, 0x7e, 0x7f, 0x7f, 0x00], // type 0: (i32, i64, i64, i32, i32) → nothing
  [0x02, 0x07, 0x01, 0x01, 0x68, 0x01, 0x66, 0x00, 0x00], // import h.f, a function of type 0
  [0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00], // export f, function 0
].flat());

let compiled: WasmModule | undefined;

/** The module, compiled once in a thread. */
export function hookModule(): WasmModule {
  compiled ??= new WebAssembly.Module(typedFunction);
  return compiled;
}

/** Puts the hook into the engine's table. Returns its place there, which is what C calls its address. */
export function placeRejectionHook(table: WasmTable, hook: OnRejection): number {
  const { f } = new WebAssembly.Instance(hookModule(), { h: { f: hook } }).exports;
  const slot = table.grow(1);
  table.set(slot, f);
  return slot;
}
