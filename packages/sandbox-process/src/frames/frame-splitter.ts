/** One frame as it came: its head, a JSON text, and its bytes. */
export interface RawFrame {
  readonly head: string;
  readonly payload: Buffer;
}

export interface FrameBounds {
  readonly headBytes: number;
  readonly payloadBytes: number;
}

/** Heads are flat objects: a name, numbers, an error. */
export const maxHeadBytes = 1024 * 1024;
const prefixBytes = 8;

/** What a guest sent is no frame; the guest is ended. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

/**
 * Cuts a stream of bytes into frames. Sizes are judged before the bytes they announce are kept, so a hostile guest
 * cannot make the host hold more than one frame of the largest allowed size. Linear in the bytes.
 */
export function createFrameSplitter(bounds: FrameBounds): { push(chunk: Buffer): RawFrame[] } {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let needed = prefixBytes;

  function joined(): Buffer {
    const [first] = waiting;
    const all = waiting.length === 1 && first !== undefined ? first : Buffer.concat(waiting, bytes);
    waiting = [all];
    return all;
  }

  function sizesOf(prefix: Buffer): { readonly headBytes: number; readonly total: number } {
    const headBytes = prefix.readUInt32BE(0);
    const payloadBytes = prefix.readUInt32BE(4);
    if (headBytes === 0 || headBytes > bounds.headBytes) throw new FrameError(`a frame announces a head of ${headBytes} bytes, at most ${bounds.headBytes} are allowed`);
    if (payloadBytes > bounds.payloadBytes) throw new FrameError(`a frame announces ${payloadBytes} bytes, at most ${bounds.payloadBytes} are allowed`);
    return { headBytes, total: prefixBytes + headBytes + payloadBytes };
  }

  return {
    push(chunk) {
      waiting.push(chunk);
      bytes += chunk.length;
      const frames: RawFrame[] = [];
      while (bytes >= needed) {
        const all = joined();
        const { headBytes, total } = sizesOf(all);
        needed = total;
        if (bytes < total) break;
        frames.push({ head: all.toString("utf8", prefixBytes, prefixBytes + headBytes), payload: all.subarray(prefixBytes + headBytes, total) });
        waiting = bytes === total ? [] : [all.subarray(total)];
        bytes -= total;
        needed = prefixBytes;
      }
      return frames;
    },
  };
}

/** A frame for the guest. */
export function writeFrame(head: object, payload: string | Uint8Array = ""): Buffer {
  return frameBytes(JSON.stringify(head), typeof payload === "string" ? Buffer.from(payload) : payload);
}

/** The bytes of a frame whose head is text already. */
export function frameBytes(head: string, body: Uint8Array): Buffer {
  const text = Buffer.from(head);
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix.writeUInt32BE(text.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  return Buffer.concat([prefix, text, body]);
}
