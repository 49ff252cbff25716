import { Readable, Writable } from "node:stream";
import { FrameError } from "../frames/frame-splitter.ts";

/** Bytes of one stream that may be on their way or wait unread at the other side. Both sides must mean the same. */
const windowBytes = 1024 * 1024;
const pieceBytes = 128 * 1024;

export type Send = (head: object, payload?: Uint8Array) => void;

/** The sending end of a stream that the other side reads. */
export interface Outflow {
  /** The other side has room for so many bytes more. */
  grant(bytes: number): void;
}

/**
 * Sends what a stream gives, as fast as the other side reads: a slow reader there stops the writer here.
 *
 * `send` is told `{ k: "data", s }` with a piece, then `{ k: "end", s }`.
 */
export function sendStream(stream: Readable, name: string, send: Send): Outflow {
  let credit = windowBytes;
  const pass = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length; at += pieceBytes) send({ k: "data", s: name }, bytes.subarray(at, at + pieceBytes));
    credit -= bytes.length;
    // What Node read before it paused still comes: one piece of a pipe, 64 KiB.
    if (credit <= 0) stream.pause();
  };
  let isEnded = false;
  const end = (): void => {
    if (!isEnded) send({ k: "end", s: name });
    isEnded = true;
  };
  stream.on("data", pass);
  stream.once("end", end);
  stream.once("close", end);
  return {
    grant(bytes) {
      credit += bytes;
      if (credit > 0 && stream.isPaused()) stream.resume();
    },
  };
}

/** The reading end: what came is granted again when it was read, not before. */
export interface Inflow {
  readonly stream: Readable;
  /** Throws `FrameError` for more than was granted. */
  push(bytes: Buffer): void;
  end(): void;
}

/** A grant is not sent for less: one for each piece would double the frames. */
const grantBytes = windowBytes / 8;

export function receiveStream(name: string, send: Send): Inflow {
  let unread = 0;
  const grant = (): void => {
    if (unread < grantBytes) return;
    send({ k: "grant", s: name, bytes: unread });
    unread = 0;
  };
  const stream = new Readable({ highWaterMark: 64 * 1024, read: grant });
  stream.on("error", () => undefined);
  return {
    stream,
    push(bytes) {
      unread += bytes.length;
      // A sender looks at its credit before each piece, so it may pass it by one.
      if (unread > windowBytes + grantBytes + pieceBytes) throw new FrameError(`more of ${name} came than was granted`);
      if (stream.destroyed) grant(); // Nobody reads it any more; the writer is not held up.
      else stream.push(bytes);
    },
    end: () => void (stream.destroyed || stream.push(null)),
  };
}

/** A stream that is written here and read at the other side: it takes as much as there is room for there. */
export function writeThrough(name: string, send: Send): Outflow & { readonly stream: Writable } {
  let credit = windowBytes;
  let rest: Buffer = Buffer.alloc(0);
  let written: (() => void) | undefined;
  function pump(): void {
    while (rest.length > 0 && credit > 0) {
      const piece = rest.subarray(0, Math.min(pieceBytes, credit));
      rest = rest.subarray(piece.length);
      credit -= piece.length;
      send({ k: "data", s: name }, piece);
    }
    if (rest.length > 0) return;
    const done = written;
    written = undefined;
    done?.();
  }
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      rest = chunk;
      written = done;
      pump();
    },
    final(done) {
      send({ k: "end", s: name });
      done();
    },
  });
  stream.on("error", () => undefined);
  return {
    stream,
    grant(bytes) {
      credit += bytes;
      pump();
    },
  };
}

/** Writes what came into a stream of this host; it is granted again when that took it. */
export function deliverInto(target: Writable, name: string, send: Send): Pick<Inflow, "push" | "end"> {
  let waiting = 0;
  let taken = 0;
  return {
    push(bytes) {
      waiting += bytes.length;
      if (waiting + taken > windowBytes + grantBytes + pieceBytes) throw new FrameError(`more of ${name} came than was granted`);
      target.write(bytes, () => {
        waiting -= bytes.length;
        taken += bytes.length;
        if (taken < grantBytes) return;
        send({ k: "grant", s: name, bytes: taken });
        taken = 0;
      });
    },
    end: () => void target.end(),
  };
}
