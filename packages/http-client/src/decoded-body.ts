import { pipeline, Readable } from "node:stream";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

export const acceptedEncodings = "gzip, deflate, br";

/** What went wrong with a body itself, not with its connection. */
export class BodyFault extends Error {
  readonly reason: "malformed" | "too_large";

  constructor(reason: "malformed" | "too_large", message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

export interface BodyInit {
  /** As in Content-Encoding. */
  readonly encoding: string;
  /** Unpacked. */
  readonly maxBytes: number;
}

/**
 * The pieces of a body, unpacked and counted as they come: what is over the bound is never held, however small it came.
 * Throws `BodyFault`, and whatever the raw stream fails with.
 */
export async function* decodedBody(raw: AsyncIterable<Uint8Array>, { encoding, maxBytes }: BodyInit): AsyncGenerator<Uint8Array, void> {
  const decoder = decoderOf(encoding);
  let broken: { readonly fault: unknown } | undefined;
  const watched = Readable.from(remember(raw, (fault) => (broken = { fault })), { objectMode: false });
  const pieces: Readable = decoder === undefined ? watched : pipeline(watched, decoder, () => undefined);
  let bytes = 0;
  try {
    for await (const piece of pieces as AsyncIterable<Uint8Array>) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw new BodyFault("too_large", `is larger than ${maxBytes} bytes`);
      yield piece;
    }
  } catch (fault) {
    // Of a connection that broke, the decoder only tells that something is missing.
    if (broken?.fault instanceof Error) throw broken.fault;
    if (fault instanceof BodyFault || decoder === undefined) throw fault;
    throw new BodyFault("malformed", `is no ${encoding}, as it claims`, fault);
  } finally {
    pieces.destroy();
    watched.destroy();
  }
}

/** Keeps the fault of the connection apart from that of the decoder. */
async function* remember(raw: AsyncIterable<Uint8Array>, hear: (fault: unknown) => void): AsyncGenerator<Uint8Array, void> {
  try {
    yield* raw;
  } catch (fault) {
    hear(fault);
    throw fault;
  }
}

/** One layer at most: each more multiplies what a small body can unpack to, and no client asks for it. */
function decoderOf(encoding: string): Transform | undefined {
  switch (encoding.trim().toLowerCase()) {
    case "":
    case "identity":
      return undefined;
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      throw new BodyFault("malformed", `has the encoding "${encoding.slice(0, 40)}", which was not asked for`);
  }
}
