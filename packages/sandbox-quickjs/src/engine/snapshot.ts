import type { Pointer } from "./abi.ts";
import type { EngineInstance } from "./instance.ts";

/**
 * Where things lie in the engine's memory: static data, then the stack (growing down), then the heap. Found when the
 * worker starts, not written down, so that a build with another layout is noticed.
 */
export interface MemoryLayout {
  /** End of static data; the stack's lowest address. */
  readonly dataEnd: Pointer;
  /** The stack pointer at rest; the heap begins here. */
  readonly heapStart: Pointer;
  /** Address of the word that holds the heap's end. */
  readonly breakAddress: Pointer;
}

/** Everything that tells two instances at rest apart: static data and heap. */
export interface Snapshot {
  readonly data: Buffer;
  readonly heap: Buffer;
  readonly heapEnd: Pointer;
}

/** The build's stack size. */
const stackBytes = 5 * 1024 * 1024;

const zeroBlock = Buffer.alloc(65_536);

/**
 * Finds the layout of a fresh instance. `undefined` when the memory does not behave as expected; restoring is then
 * not safe. Uses up the instance: the search allocates.
 */
export function findLayout(instance: EngineInstance): MemoryLayout | undefined {
  const heapStart = instance.exports.stackPointer();
  const dataEnd = heapStart - stackBytes;
  if (dataEnd <= 0) return undefined;
  const before = Buffer.from(instance.bytes().subarray(0, dataEnd));
  const first = instance.exports.malloc(100_000);
  const second = instance.exports.malloc(1_000_000);
  if (first < heapStart || second < first + 100_000) return undefined;
  let breakAddress: Pointer | undefined;
  let highest = second + 1_000_000;
  const now = instance.bytes();
  for (let address = 1024; address + 4 <= dataEnd; address += 4) {
    const old = before.readUInt32LE(address);
    const word = now.readUInt32LE(address);
    const movedUp = old >= heapStart && old <= first + 65_536 && word > highest && word <= second + 1_065_536;
    if (movedUp) [breakAddress, highest] = [address, word];
  }
  return breakAddress === undefined ? undefined : { dataEnd, heapStart, breakAddress };
}

/** The heap's end now. It only moves up, so it is also the highest address the guest's heap ever reached. */
export function heapEnd(instance: EngineInstance, layout: MemoryLayout): Pointer {
  return instance.bytes().readUInt32LE(layout.breakAddress);
}

/** Copies an instance's state. It must be at rest: no engine frame on the stack. */
export function takeSnapshot(instance: EngineInstance, layout: MemoryLayout): Snapshot {
  const bytes = instance.bytes();
  const end = heapEnd(instance, layout);
  return {
    data: Buffer.from(bytes.subarray(0, layout.dataEnd)),
    heap: Buffer.from(bytes.subarray(layout.heapStart, end)),
    heapEnd: end,
  };
}

/** Puts an instance, whatever ran in it, into exactly the state of the snapshot. */
export function restoreSnapshot(instance: EngineInstance, layout: MemoryLayout, snapshot: Snapshot): void {
  const bytes = instance.bytes();
  const dirtyEnd = heapEnd(instance, layout);
  if (dirtyEnd > snapshot.heapEnd) bytes.fill(0, snapshot.heapEnd, dirtyEnd);
  snapshot.data.copy(bytes, 0);
  snapshot.heap.copy(bytes, layout.heapStart);
  wipeStack(bytes, layout);
  instance.exports.stackRestore(layout.heapStart);
}

/** Zeroes what the stack used: block by block from its top, until a block was never touched. */
function wipeStack(bytes: Buffer, layout: MemoryLayout): void {
  for (let end = layout.heapStart; end > layout.dataEnd; ) {
    const start = Math.max(layout.dataEnd, end - zeroBlock.length);
    const block = bytes.subarray(start, end);
    if (zeroBlock.compare(block, 0, block.length, 0, block.length) === 0) return;
    block.fill(0);
    end = start;
  }
}
