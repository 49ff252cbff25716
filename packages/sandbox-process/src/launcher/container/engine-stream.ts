import type { Readable } from "node:stream";

/** Where the bytes of a multiplexed stream go. */
export interface StreamParts {
  readonly stdout: (bytes: Buffer) => void;
  readonly stderr: (bytes: Buffer) => void;
}

const headBytes = 8;
/** An engine cuts at 32 KiB; more than this is no engine's frame. */
const maxPartBytes = 16 * 1024 * 1024;

/**
 * Takes apart what an engine sends of a container without a terminal: frames of one byte that says which stream, three of
 * nothing, a big-endian 32-bit length, and that many bytes. A stream that is something else is destroyed with an error.
 */
export function splitEngineStream(source: Readable, { stdout, stderr }: StreamParts): void {
  let head = Buffer.alloc(0);
  let kind = 0;
  let left = 0;
  source.on("data", (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      if (left === 0) {
        const taken = chunk.subarray(at, at + headBytes - head.length);
        head = Buffer.concat([head, taken]);
        at += taken.length;
        if (head.length < headBytes) return;
        kind = head[0] ?? 0;
        left = head.readUInt32BE(4);
        head = Buffer.alloc(0);
        if ((kind !== 1 && kind !== 2) || left > maxPartBytes) return void source.destroy(new Error("the engine sent a stream that is not multiplexed"));
        continue;
      }
      const part = chunk.subarray(at, at + left);
      at += part.length;
      left -= part.length;
      (kind === 1 ? stdout : stderr)(part);
    }
  });
}
