import type { Readable } from "node:stream";

/** Knows what arrives on a connection while it arrives, so that an answer that is too large is dropped before all of it is here. */
export interface Meter {
  /** Called with each number of bytes, while it is set. */
  onBytes: ((bytes: number) => void) | undefined;
}

/** @param stream flows already */
export function meterOf(stream: Readable): Meter {
  const meter: Meter = { onBytes: undefined };
  stream.on("data", (chunk: Uint8Array) => meter.onBytes?.(chunk.length));
  return meter;
}
