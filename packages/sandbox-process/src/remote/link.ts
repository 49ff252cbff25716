import { FrameError } from "../frames/frame-splitter.ts";
import { wholeField } from "./wire.ts";
import type { Wire, WireFrame } from "./wire.ts";

/**
 * Frames between two sides, each once and in order, over one connection after the other. Every frame has a number and is
 * kept until the other side said that it has it; a new connection begins with what the other side does not have.
 */
export interface Link {
  send(head: object, payload?: Uint8Array): void;
  /** Goes on over a connection whose other side has all frames up to `theirs`. Throws `FrameError` when that cannot be. */
  attach(wire: Wire, theirs: number): void;
  /** The last number that came; what the other side is told to go on from. */
  readonly received: number;
  /** True when the other side has everything. */
  readonly isDone: boolean;
}

interface Kept {
  readonly number: number;
  readonly head: object;
  readonly payload: Uint8Array | undefined;
}

/** @param hear is told each numbered frame once; `onDone` whenever the other side has everything */
export function createLink({ hear, onDone }: { readonly hear: (frame: WireFrame) => void; readonly onDone?: () => void }): Link {
  const kept: Kept[] = [];
  let wire: Wire | undefined;
  let sent = 0;
  let received = 0;
  let acked = 0;
  let isAckDue = false;

  function drop(theirs: number): void {
    if (theirs > sent || theirs < acked) throw new FrameError(`frame ${theirs} is acknowledged where ${acked} to ${sent} could be`);
    acked = theirs;
    while (kept[0] !== undefined && kept[0].number <= theirs) kept.shift();
    if (kept.length === 0) onDone?.();
  }

  function acknowledge(): void {
    if (isAckDue) return;
    isAckDue = true;
    setImmediate(() => {
      isAckDue = false;
      wire?.send({ k: "ack", n: received });
    });
  }

  function take(frame: WireFrame): void {
    if (frame.kind === "ack") return drop(wholeField(frame.head, "n"));
    const number = wholeField(frame.head, "n");
    if (number <= received) return; // It came before the connection broke.
    if (number !== received + 1) throw new FrameError(`frame ${number} came where ${received + 1} was due`);
    received = number;
    acknowledge();
    hear(frame);
  }

  return {
    send(head, payload) {
      sent += 1;
      const frame = { ...head, n: sent };
      kept.push({ number: sent, head: frame, payload });
      wire?.send(frame, payload);
    },
    attach(next, theirs) {
      drop(theirs);
      wire = next;
      next.closed.then(() => {
        if (wire === next) wire = undefined;
      }, () => undefined);
      for (const { head, payload } of kept) next.send(head, payload);
      next.listen(take);
    },
    get received() {
      return received;
    },
    get isDone() {
      return kept.length === 0;
    },
  };
}
