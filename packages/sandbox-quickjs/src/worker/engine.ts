import { CallgateError } from "@callgate/contract";
import type { EngineHooks, Pointer } from "../engine/abi.ts";
import type { EngineInstance } from "../engine/instance.ts";
import { createInstance, growMemory, initialPages } from "../engine/instance.ts";
import { setRuntimeHooks } from "../engine/runtime-hooks.ts";
import type { MemoryLayout, Snapshot } from "../engine/snapshot.ts";
import { findLayout, heapEnd, restoreSnapshot, takeSnapshot } from "../engine/snapshot.ts";
import type { WasmModule } from "../engine/web-assembly.ts";
import { entries, preludeFile, programFile } from "../guest-protocol.ts";
import { preludeText } from "../guest-text.ts";

/** Addresses inside a prepared engine. The same in every engine: all start from one snapshot. */
export interface EngineParts {
  readonly runtime: Pointer;
  readonly context: Pointer;
  readonly entries: Readonly<Record<keyof typeof entries, Pointer>>;
  readonly programFile: Pointer;
  /** Room for eight pointers. */
  readonly scratch: Pointer;
  /** Room for one value. */
  readonly rejection: Pointer;
}

/** An engine with prelude and tools laid out, in which nothing ran yet. */
export interface PreparedEngine {
  readonly instance: EngineInstance;
  readonly parts: EngineParts;
  readonly memoryMiB: number;
  /** The tools that are laid out in it. */
  readonly modulesDigest: string;
}

/** An engine that was restored and waits for its next run. */
interface IdleEngine {
  readonly engine: PreparedEngine;
  /** What it was restored to. While nothing runs in it, it stays exactly that. */
  readonly snapshot: Snapshot;
}

export interface Engines {
  /** False when memory could not be restored safely here: every run then gets a new instance (about 2 ms). */
  readonly restores: boolean;
  /** Makes tools known under a digest, until `forget`. */
  defineModules(modulesDigest: string, modulesJson: string): void;
  forget(modulesDigest: string): void;
  prepare(modulesDigest: string, memoryMiB: number): PreparedEngine;
  /** Takes an engine back. `healthy` is false after anything thrown on the host's side: it is then thrown away. */
  release(engine: PreparedEngine, healthy: boolean): void;
}

/** More was dirtied than a copy is worth: a new instance is cheaper than zeroing, and gives the memory back. */
const maxDirtyBytes = 4 * 1024 * 1024;
/** wasm memory never shrinks. */
const maxKeptBytes = 32 * 1024 * 1024;
const maxIdle = 4;
const stackBytes = 256 * 1024;

interface Base {
  readonly parts: EngineParts;
  readonly snapshot: Snapshot;
}

/** Keeps prepared engines of one worker. */
export function createEngines(module: WasmModule): Engines {
  const layout = findLayout(createInstance(module, initialPages));
  const base = layout === undefined ? undefined : selfTested(module, layout);
  const modulesJson = new Map<string, string>();
  const snapshots = new Map<string, Snapshot>();
  const idle: IdleEngine[] = [];

  const fresh = (modulesDigest: string, memoryMiB: number): PreparedEngine => {
    const maxPages = Math.max(initialPages, memoryMiB * 16);
    const instance = createInstance(module, maxPages);
    return { instance, parts: base === undefined ? setUp(instance) : base.parts, memoryMiB, modulesDigest };
  };

  /** The idle engine that needs least: one with these tools already, else any of that size. */
  const takeIdle = (modulesDigest: string, memoryMiB: number): IdleEngine | undefined => {
    const isFit = ({ engine }: IdleEngine): boolean => engine.memoryMiB === memoryMiB;
    const ready = idle.findIndex((one) => isFit(one) && one.engine.modulesDigest === modulesDigest);
    const index = ready < 0 ? idle.findIndex(isFit) : ready;
    return index < 0 ? undefined : idle.splice(index, 1)[0];
  };

  const snapshotOf = (modulesDigest: string, engine: PreparedEngine): Snapshot | undefined => {
    const known = snapshots.get(modulesDigest);
    if (known !== undefined || base === undefined || layout === undefined) return known;
    restoreSnapshot(engine.instance, layout, base.snapshot);
    layOutModules(engine, modulesJson.get(modulesDigest));
    const snapshot = takeSnapshot(engine.instance, layout);
    snapshots.set(modulesDigest, snapshot);
    return snapshot;
  };

  return {
    restores: base !== undefined,
    defineModules(modulesDigest, json) {
      modulesJson.set(modulesDigest, json);
    },
    forget(modulesDigest) {
      modulesJson.delete(modulesDigest);
      snapshots.delete(modulesDigest);
    },
    prepare(modulesDigest, memoryMiB) {
      const kept = takeIdle(modulesDigest, memoryMiB);
      const engine: PreparedEngine = kept === undefined ? fresh(modulesDigest, memoryMiB) : { ...kept.engine, modulesDigest };
      const snapshot = snapshotOf(modulesDigest, engine);
      if (snapshot === undefined || layout === undefined) layOutModules(engine, modulesJson.get(modulesDigest));
      else if (kept?.snapshot !== snapshot) restoreSnapshot(engine.instance, layout, snapshot);
      return engine;
    },
    release(engine, healthy) {
      engine.instance.hooks = quietHooks;
      if (!healthy || base === undefined || layout === undefined) return;
      if (heapEnd(engine.instance, layout) - base.snapshot.heapEnd > maxDirtyBytes) return;
      if (engine.instance.memory.buffer.byteLength > maxKeptBytes) return;
      // Not kept dirty: what a run left behind does not wait in memory for the next one. With its tools laid out, for the
      // next run most often has the same.
      const snapshot = snapshots.get(engine.modulesDigest) ?? base.snapshot;
      restoreSnapshot(engine.instance, layout, snapshot);
      if (idle.length === maxIdle) idle.shift();
      idle.push({ engine, snapshot });
    },
  };
}

/** Restoring is used only where it is seen to work: after a run the memory is, byte for byte, what it was before. */
function selfTested(module: WasmModule, layout: MemoryLayout): Base | undefined {
  const instance = createInstance(module, initialPages);
  const parts = setUp(instance);
  const snapshot = takeSnapshot(instance, layout);
  const engine: PreparedEngine = { instance, parts, memoryMiB: 16, modulesDigest: "self-test" };
  const other: PreparedEngine = { ...engine, instance: createInstance(module, initialPages) };
  restoreSnapshot(other.instance, layout, snapshot);
  const pristine = Buffer.from(other.instance.bytes());
  for (const tested of [engine, other]) {
    layOutModules(tested, '[{"namespace":"selfTest","tools":["probe"]}]');
    if (evaluateNumber(tested, "globalThis.leak = Array.from({ length: 1000 }, (_, i) => ({ i })); Date.now() + leak.length") !== 2000) return undefined;
    restoreSnapshot(tested.instance, layout, snapshot);
    if (tested.instance.bytes().compare(pristine) !== 0) return undefined;
  }
  return { parts, snapshot };
}

/** Builds runtime, context and prelude in a fresh instance. */
function setUp(instance: EngineInstance): EngineParts {
  const { exports } = instance;
  instance.hooks = { ...quietHooks, grow: (bytes) => growMemory(instance.memory, bytes, initialPages) };
  const runtime = exports.newRuntime();
  exports.setMaxStackSize(runtime, stackBytes);
  setRuntimeHooks(instance, runtime);
  const context = exports.newContext(runtime, 0);
  const scratch = exports.malloc(32);
  const rejection = exports.malloc(8);
  const emitName = instance.writeText("emit").pointer;
  const emit = exports.newFunction(context, emitName, 4, 0, 1);
  const boot = mustSucceed(instance, context, evaluate({ instance, parts: { context } }, preludeText, instance.writeText(preludeFile).pointer));
  instance.bytes().writeUInt32LE(emit, scratch);
  const list = mustSucceed(instance, context, exports.call(context, boot, exports.getUndefined(), 1, scratch));
  const found = Object.fromEntries(Object.entries(entries).map(([name, index]) => [name, exports.getPropNumber(context, list, index)]));
  return { runtime, context, entries: found as EngineParts["entries"], programFile: instance.writeText(programFile).pointer, scratch, rejection };
}

function layOutModules(engine: PreparedEngine, modulesJson: string | undefined): void {
  const { instance, parts } = engine;
  if (modulesJson === undefined) throw new CallgateError("ASSERTION", "The worker was not told the tools of this run");
  instance.hooks = { ...quietHooks, grow: (bytes) => growMemory(instance.memory, bytes, Math.max(initialPages, engine.memoryMiB * 16)) };
  const text = instance.writeText(modulesJson).pointer;
  const value = instance.exports.newString(parts.context, text);
  instance.exports.free(text);
  instance.bytes().writeUInt32LE(value, parts.scratch);
  const { exports } = instance;
  exports.freeValue(parts.context, mustSucceed(instance, parts.context, exports.call(parts.context, parts.entries.defineModules, exports.getUndefined(), 1, parts.scratch)));
  exports.freeValue(parts.context, value);
}

/** Evaluates global code. The returned value may be the mark of an exception. */
export function evaluate({ instance, parts }: { readonly instance: EngineInstance; readonly parts: Pick<EngineParts, "context"> }, code: string, fileName: Pointer): Pointer {
  const { pointer, byteLength } = instance.writeText(code);
  const value = instance.exports.evaluate(parts.context, pointer, byteLength, fileName, 0, 0);
  instance.exports.free(pointer);
  return value;
}

function evaluateNumber(engine: PreparedEngine, code: string): number {
  const { instance, parts } = engine;
  instance.hooks = { ...quietHooks, now: () => 1000, grow: (bytes) => growMemory(instance.memory, bytes, initialPages) };
  return instance.exports.getFloat64(parts.context, evaluate(engine, code, parts.programFile));
}

function mustSucceed(instance: EngineInstance, context: Pointer, value: Pointer): Pointer {
  const thrown = instance.exports.resolveException(context, value);
  if (thrown === 0) return value;
  const message = instance.readText(instance.exports.getString(context, thrown));
  throw new CallgateError("DRIVER_FAILED", `The sandbox's own prelude failed: ${message}`);
}

const quietHooks: EngineHooks = { now: () => 0, shouldInterrupt: () => false, callHost: () => 0, rejected: () => {}, grow: () => false };
