import type { Readable, Writable } from "node:stream";
import { FrameError } from "../frames/frame-splitter.ts";
import { receiveStream, writeThrough } from "./flow.ts";
import type { Send } from "./flow.ts";
import { textField, wholeField } from "./wire.ts";
import type { WireFrame } from "./wire.ts";

/** The four streams of a guest that is elsewhere. */
export interface RemoteStreams {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly frames: Readable;
  readonly commands: Writable;
  /** Streams that did not end yet. */
  readonly open: number;
  /** Takes a frame about a stream. Throws `FrameError` for one that is none. */
  hear(frame: WireFrame): void;
  /** Nothing more will come. */
  end(): void;
}

export function createRemoteStreams(send: Send): RemoteStreams {
  const inflows = new Map(["stdout", "stderr", "frames"].map((name) => [name, receiveStream(name, send)] as const));
  const commands = writeThrough("commands", send);
  const ended = new Set<string>();
  const streamOf = (name: string): Readable => {
    const found = inflows.get(name);
    if (found === undefined) throw new FrameError(`an unknown stream "${name}" came`);
    return found.stream;
  };
  return {
    stdout: streamOf("stdout"),
    stderr: streamOf("stderr"),
    frames: streamOf("frames"),
    commands: commands.stream,
    get open() {
      return inflows.size - ended.size;
    },
    hear({ kind, head, payload }) {
      const name = textField(head, "s", 20);
      if (kind === "grant") return commands.grant(wholeField(head, "bytes"));
      const inflow = inflows.get(name);
      if (inflow === undefined || ended.has(name)) throw new FrameError(`a frame of stream "${name}" came, which is not open`);
      if (kind === "data") return inflow.push(payload);
      ended.add(name);
      return inflow.end();
    },
    end() {
      for (const inflow of inflows.values()) inflow.end();
      commands.stream.destroy();
    },
  };
}
