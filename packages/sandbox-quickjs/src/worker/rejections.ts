import type { Pointer } from "../engine/abi.ts";
import type { GuestState } from "./guest-state.ts";

/** What a program does wrong it does often: with so many kept, its memory and ours are bounded. */
const maxKept = 64;
const maxTold = 5;

/** The engine's news of one promise; see `EngineHooks.rejected`. */
export function noteRejection({ rejections, engine }: GuestState, promise: Pointer, said: { readonly value: bigint; readonly isHandled: boolean }): void {
  const { instance, parts } = engine;
  const { waiting } = rejections;
  if (said.isHandled) {
    // The last of that address: one that is gone may have left its address to another.
    const index = waiting.findLastIndex((one) => one.promise === promise);
    const [handled] = index < 0 ? [] : waiting.splice(index, 1);
    if (handled === undefined) rejections.more = Math.max(0, rejections.more - 1);
    else if (handled.value !== 0) instance.exports.freeValue(parts.context, handled.value);
    return;
  }
  if (waiting.length === maxKept) {
    rejections.more += 1;
    return;
  }
  instance.bytes().writeBigInt64LE(said.value, parts.rejection);
  waiting.push({ promise, value: instance.exports.duplicate(parts.context, parts.rejection) });
}

/** Tells the program's reader, as console output, of rejections that nobody will see any more. The program's own end is no such. */
export function tellRejections({ rejections, engine, values, main }: GuestState): void {
  const own = main === 0 ? 0 : engine.instance.bytes().readUInt32LE(main);
  const lost = rejections.waiting.filter(({ promise }) => promise !== own);
  lost.slice(0, maxTold).forEach(({ value }, index) => {
    const left = index === maxTold - 1 ? lost.length - maxTold + rejections.more : 0;
    if (value !== 0) values.free(values.call(engine.parts.entries.tellRejection, [value, values.number(left)]));
  });
  rejections.waiting.length = 0;
  rejections.more = 0;
}
