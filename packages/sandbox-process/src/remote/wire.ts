import type { Duplex } from "node:stream";
import { parseHead } from "../frames/guest-frame.ts";
import { createFrameSplitter, FrameError, writeFrame } from "../frames/frame-splitter.ts";

/** Version of what client and server of remote guests say to each other; both must have the same. */
export const remoteProtocolVersion = 1;

/** Bytes of one frame: of its head, and of what it carries (a piece of a stream, our own guest file). */
const wireBounds = { headBytes: 256 * 1024, payloadBytes: 1024 * 1024 } as const;

/** Nothing heard for this long: the connection is taken for dead. A sign of life is sent three times as often. */
export const defaultSilenceMs = 15_000;

export interface WireFrame {
  readonly kind: string;
  readonly head: Readonly<Record<string, unknown>>;
  readonly payload: Buffer;
}

/** One connection, of TLS or of a socket, as frames. */
export interface Wire {
  send(head: object, payload?: Uint8Array): void;
  /** Frames from now on go here. */
  listen(hear: (frame: WireFrame) => void): void;
  /** Ends it after what was sent. */
  end(): void;
  destroy(): void;
  /** Resolves with why, when nothing comes or goes any more. Never rejects. */
  readonly closed: Promise<string>;
}

/** What broke a rule of the protocol names it; the connection is destroyed. */
export function createWire(socket: Duplex, silenceMs: number): Wire {
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  const splitter = createFrameSplitter(wireBounds);
  let hear: ((frame: WireFrame) => void) | undefined;
  let heardAt = performance.now();
  const early: WireFrame[] = [];

  function fail(reason: string): void {
    resolve(reason);
    socket.destroy();
  }

  const life = setInterval(() => {
    if (performance.now() - heardAt > silenceMs) return fail(`nothing was heard for ${silenceMs} ms`);
    send({ k: "life" });
  }, silenceMs / 3);
  life.unref();

  function send(head: object, payload?: Uint8Array): void {
    if (!socket.destroyed && socket.writable) socket.write(writeFrame(head, payload));
  }

  socket.on("data", (chunk: Buffer) => {
    heardAt = performance.now();
    try {
      for (const { head: text, payload } of splitter.push(chunk)) {
        const frame = parseWireFrame(text, payload);
        if (frame.kind === "life") continue;
        if (hear === undefined) early.push(frame);
        else hear(frame);
        if (early.length > 64) throw new FrameError("more came than was asked for");
      }
    } catch (error) {
      fail(error instanceof FrameError ? `the other side broke the protocol: ${error.message}` : "a frame could not be handled");
    }
  });
  socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.message));
  socket.once("end", () => fail("the other side closed the connection"));
  socket.once("close", () => {
    clearInterval(life);
    resolve("the connection was closed");
  });
  return {
    send,
    listen(hearing) {
      hear = hearing;
      for (const frame of early.splice(0)) hear(frame);
    },
    end: () => void socket.end(),
    destroy: () => fail("the connection was closed here"),
    closed,
  };
}

function parseWireFrame(text: string, payload: Buffer): WireFrame {
  const fields = parseHead(text);
  return { kind: textField(fields, "k", 20), head: fields, payload };
}

/** A field that must be there. Throws `FrameError`. */
export function textField(head: Readonly<Record<string, unknown>>, name: string, maxChars: number): string {
  const value = Object.hasOwn(head, name) ? head[name] : undefined;
  if (typeof value !== "string" || value.length > maxChars) throw new FrameError(`a frame has no good "${name}"`);
  return value;
}

/** A whole number from 0 that must be there. Throws `FrameError`. */
export function wholeField(head: Readonly<Record<string, unknown>>, name: string): number {
  const value = Object.hasOwn(head, name) ? head[name] : undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw new FrameError(`a frame has no good "${name}"`);
  return value;
}
