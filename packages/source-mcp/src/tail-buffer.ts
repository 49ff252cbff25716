/** The last lines of a stream that may be endless. */
export interface TailBuffer {
  push(chunk: Uint8Array): void;
  /** The last `count` lines, each cut to 300 characters. */
  lines(count: number): readonly string[];
}

/** Keeps the last `maxBytes` of what is pushed; memory is at most twice that. */
export function createTailBuffer(maxBytes: number): TailBuffer {
  let kept = Buffer.alloc(0);
  return {
    push(chunk) {
      kept = Buffer.concat([kept, chunk.subarray(-maxBytes)]);
      if (kept.length > maxBytes) kept = Buffer.from(kept.subarray(-maxBytes));
    },
    lines(count) {
      const lines = kept.toString("utf8").split(/\r?\n/).filter((line) => line.trim() !== "");
      return lines.slice(-count).map((line) => (line.length > 300 ? `${line.slice(0, 300)}…` : line));
    },
  };
}
