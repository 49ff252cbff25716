import type { Pointer } from "./abi.ts";
import type { EngineInstance } from "./instance.ts";

/** More than the engine's record of a runtime takes. */
const runtimeBytes = 1024;

/**
 * Lets the engine ask whether to go on, and tells it of the rejection hook. Both are kept in its record of the runtime,
 * one after the other: interrupt handler and its argument, rejection hook and its argument, then the queue of jobs, which
 * while it is empty points to itself. So the place is found by watching, and used only where all of that is seen.
 * Returns whether the hook is set.
 */
export function setRuntimeHooks(instance: EngineInstance, runtime: Pointer): boolean {
  const before = Buffer.from(instance.bytes().subarray(runtime, runtime + runtimeBytes));
  instance.exports.enableInterruptHandler(runtime);
  const now = instance.bytes();
  const word = (address: Pointer): number => now.readUInt32LE(address);
  const changed = Array.from({ length: runtimeBytes / 4 }, (_, index) => index * 4).filter((offset) => before.readUInt32LE(offset) !== word(runtime + offset));
  const [offset] = changed;
  if (changed.length !== 1 || offset === undefined) return false;
  const hook = runtime + offset + 8;
  const jobs = hook + 8;
  if (word(hook) !== 0 || word(hook + 4) !== 0 || word(jobs) !== jobs || word(jobs + 4) !== jobs) return false;
  now.writeUInt32LE(instance.rejectionSlot, hook);
  return true;
}
