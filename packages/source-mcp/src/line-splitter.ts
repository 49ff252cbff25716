/** One line of a stream, or the news that one was too long to keep. */
export type Line =
  | { readonly kind: "line"; readonly text: string }
  /** `head` and `tail` are its first and last bytes as text; `sizeBytes` its whole length. */
  | { readonly kind: "oversized"; readonly head: string; readonly tail: string; readonly sizeBytes: number };

/** How much of an oversized line's ends is kept: enough to find a JSON-RPC id. */
const END_BYTES = 256;

export interface LineSplitter {
  /** Lines completed by this chunk, without their line ends. Empty lines are left out. */
  push(chunk: Uint8Array): readonly Line[];
}

/**
 * Cuts a byte stream into lines. A line longer than `maxBytes` is dropped while it streams by, so memory stays bounded
 * whatever the peer sends. Cost: linear, each byte is copied once.
 */
export function createLineSplitter(maxBytes: number): LineSplitter {
  let parts: Uint8Array[] = [];
  let size = 0;
  let head: Buffer | undefined;
  let tail = Buffer.alloc(0);

  const add = (bytes: Uint8Array): void => {
    size += bytes.length;
    if (head === undefined && size <= maxBytes) {
      parts.push(bytes);
      return;
    }
    head ??= Buffer.concat([...parts, bytes]).subarray(0, END_BYTES);
    parts = [];
    tail = Buffer.concat([tail, bytes.subarray(-END_BYTES)]).subarray(-END_BYTES);
  };
  const finish = (): Line | undefined => {
    const line: Line | undefined =
      head !== undefined
        ? { kind: "oversized", head: head.toString("utf8"), tail: tail.toString("utf8"), sizeBytes: size }
        : size > 0
          ? { kind: "line", text: Buffer.concat(parts).toString("utf8").trimEnd() }
          : undefined;
    parts = [];
    size = 0;
    head = undefined;
    tail = Buffer.alloc(0);
    return line;
  };

  return {
    push(chunk) {
      const lines: Line[] = [];
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        add(chunk.subarray(start, end));
        const line = finish();
        if (line !== undefined && (line.kind === "oversized" || line.text !== "")) lines.push(line);
        start = end + 1;
      }
      if (start < chunk.length) add(chunk.subarray(start));
      return lines;
    },
  };
}
