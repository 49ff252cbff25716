import { decodeValue, duplicateKey, encodeValue } from "@callgate/contract";
import type { GuestCall, GuestCompletion, RunLimits, WireValue } from "@callgate/contract";
import type { GuestFrame } from "../frames/guest-frame.ts";

type CallFrame = Extract<GuestFrame, { kind: "call" | "builtin" | "timer" }>;

/** The calls of one guest: their numbers, and which are open. */
export interface GuestCalls {
  /** The call a frame stands for, or what is wrong with it. */
  open(frame: CallFrame): GuestCall | string;
  /** The frame that answers a call; undefined for a call that was never issued or is answered already. */
  answer(completion: GuestCompletion): { readonly head: object; readonly payload: string } | undefined;
  /** Of the answers the guest has taken in all, those of this program. */
  taken(delivered: number): number;
  /** How many calls there were. */
  readonly count: number;
  /** How many have no answer yet. */
  readonly waiting: number;
}

/** @param first the guest's number of the first call: in a session it goes on counting, the host counts each block from 0 */
export function createGuestCalls(limits: RunLimits, first = 0): GuestCalls {
  const open = new Map<number, string>();
  let nextSeq = 0;
  return {
    open(frame) {
      const seq = nextSeq;
      if (frame.seq !== first + seq) return `call ${frame.seq} came where ${first + seq} was due`;
      nextSeq += 1;
      open.set(seq, frame.kind === "timer" ? "" : frame.name);
      if (frame.kind === "timer") return { ...frame, seq };
      const args = plainCopy(frame.args, limits.argumentBytes);
      if (typeof args === "string") return args;
      return frame.kind === "call" ? { kind: "tool", seq, tool: frame.name, args } : { kind: "builtin", seq, name: frame.name, args };
    },
    taken: (delivered) => Math.max(0, delivered - first),
    get count() {
      return nextSeq;
    },
    get waiting() {
      return open.size;
    },
    answer({ seq, atMs, result }) {
      const name = open.get(seq);
      if (name === undefined) return undefined;
      open.delete(seq);
      if (result.kind === "error") return { head: { k: "done", seq: first + seq, atMs, error: result.error }, payload: "" };
      const bytes = Buffer.byteLength(result.value.json);
      if (bytes <= limits.callResultBytes) return { head: { k: "done", seq: first + seq, atMs, tagged: result.value.tagged }, payload: result.value.json };
      const details = encodeValue({ limit: "callResultBytes", limitValue: limits.callResultBytes });
      const message = `The result is ${bytes} bytes, the limit is ${limits.callResultBytes} (callResultBytes). Ask for less: a part, a page, an aggregate.`;
      return { head: { k: "done", seq: first + seq, atMs, error: { name: "ToolError", code: "LIMIT_EXCEEDED", message, tool: name, retryable: false, details } }, payload: "" };
    },
  };
}

/**
 * Arguments as the codec writes them. A hostile guest may send any text: spaces, another depth, the same key twice, which
 * has no one meaning and is refused. What is validated, approved and performed must be one text that reads one way.
 */
function plainCopy(args: WireValue, maxBytes: number): WireValue | string {
  if (Buffer.byteLength(args.json) > maxBytes) return `arguments over ${maxBytes} bytes were sent`;
  try {
    const copy = encodeValue(decodeValue(args));
    return duplicateKey(args.json) === undefined ? copy : "arguments came that name a key twice";
  } catch {
    return "arguments came that no encoder writes";
  }
}
