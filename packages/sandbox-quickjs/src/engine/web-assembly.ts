// The compiler's library types for WebAssembly come with a browser's whole DOM, which this repository leaves out. These
// are the parts used here.

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB; throws a RangeError past the maximum. */
  grow(pages: number): number;
}

export interface WasmTable {
  /** Adds empty places; returns the first. */
  grow(places: number): number;
  set(place: number, value: unknown): void;
}

/** Compiled code. Can be posted to a worker, which then need not compile it again. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

export type WasmImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Memory: new (limits: { readonly initial: number; readonly maximum: number }) => WasmMemory;
    readonly Module: new (bytes: Uint8Array) => WasmModule;
    readonly Instance: new (module: WasmModule, imports: WasmImports) => { readonly exports: Readonly<Record<string, unknown>> };
  };
};
