import { CallgateError } from "@callgate/contract";
import type { EngineExports, EngineHooks, Pointer } from "./abi.ts";
import { WebAssembly } from "./web-assembly.ts";
import { tableName } from "./export-table.ts";
import { placeRejectionHook } from "./rejection-hook.ts";
import type { WasmMemory, WasmModule, WasmTable } from "./web-assembly.ts";
import { engineImports, nameExports } from "./abi.ts";

const pageBytes = 65_536;
/** What the build asks for at least: 16 MiB, most of it never touched. */
export const initialPages = 256;

/** One engine in its own linear memory. */
export interface EngineInstance {
  readonly exports: EngineExports;
  readonly memory: WasmMemory;
  /** Hooks of whoever runs in it now; set before each entry. */
  hooks: EngineHooks;
  /** Where `hooks.rejected` is in the engine's table of functions. */
  readonly rejectionSlot: number;
  /** A view of the whole memory; renewed after it grew. */
  bytes(): Buffer;
  /** Copies text in, ended by a zero byte. 0 when out of memory. Free it with `exports.free`. */
  writeText(text: string): { readonly pointer: Pointer; readonly byteLength: number };
  /** Reads text ended by a zero byte. */
  readText(pointer: Pointer): string;
}

/** Creates an engine whose memory can never be larger than `maxPages`. Costs about 0.5 ms. */
export function createInstance(module: WasmModule, maxPages: number): EngineInstance {
  const memory = new WebAssembly.Memory({ initial: initialPages, maximum: Math.max(maxPages, initialPages) });
  let view = Buffer.from(memory.buffer);
  const bytes = (): Buffer => {
    if (view.buffer !== memory.buffer) view = Buffer.from(memory.buffer);
    return view;
  };
  const state: { hooks: EngineHooks } = { hooks: refusingHooks };
  const imports = engineImports(memory, {
    now: () => state.hooks.now(),
    shouldInterrupt: () => state.hooks.shouldInterrupt(),
    callHost: (context, count, values) => state.hooks.callHost(context, count, values),
    grow: (wanted) => state.hooks.grow(wanted),
  });
  const raw = new WebAssembly.Instance(module, imports).exports;
  const exports = nameExports(raw);
  const rejectionSlot = placeRejectionHook(raw[tableName] as WasmTable, (...[, promise, value, isHandled]) => {
    state.hooks.rejected(Number(BigInt.asUintN(32, promise)), value, isHandled === 1);
  });
  exports.callConstructors();
  return {
    exports,
    memory,
    rejectionSlot,
    bytes,
    get hooks() {
      return state.hooks;
    },
    set hooks(hooks) {
      state.hooks = hooks;
    },
    writeText(text) {
      // A UTF-16 unit takes three bytes of UTF-8 at most; short texts skip the exact count.
      const room = text.length < 1024 ? text.length * 3 : Buffer.byteLength(text);
      const pointer = exports.malloc(room + 1);
      if (pointer === 0) return { pointer, byteLength: 0 };
      const target = bytes();
      const byteLength = target.write(text, pointer, room, "utf8");
      target[pointer + byteLength] = 0;
      return { pointer, byteLength };
    },
    readText(pointer) {
      const source = bytes();
      const end = source.indexOf(0, pointer);
      return source.toString("utf8", pointer, end);
    },
  };
}

/** Grows `memory` for the engine's heap, a quarter ahead, within `maxPages`. */
export function growMemory(memory: WasmMemory, wantedBytes: number, maxPages: number): boolean {
  const nowPages = memory.buffer.byteLength / pageBytes;
  const wantedPages = Math.ceil(wantedBytes / pageBytes);
  if (wantedPages > maxPages) return false;
  const aheadPages = Math.min(maxPages, Math.max(wantedPages, Math.ceil(nowPages * 1.25)));
  for (const pages of [aheadPages, wantedPages]) {
    try {
      memory.grow(pages - nowPages);
      return true;
    } catch {
      // The machine has no memory left: try the smaller step, then report that there is none.
    }
  }
  return false;
}

const refuse = (): never => {
  throw new CallgateError("ASSERTION", "The engine was entered without a guest");
};
const refusingHooks: EngineHooks = { now: () => 0, shouldInterrupt: () => false, callHost: refuse, rejected: refuse, grow: () => false };
