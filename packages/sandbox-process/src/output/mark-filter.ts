/** Lets the bytes of a stream through up to a mark, and tells when it came. */
export interface MarkFilter {
  /** What of these bytes is output. Nothing after the mark is. */
  pass(bytes: Buffer): Buffer;
  readonly isSeen: boolean;
}

/** Bytes that may be the beginning of the mark are held back until more come. */
export function createMarkFilter(mark: Buffer): MarkFilter {
  let held = Buffer.alloc(0);
  let isSeen = false;
  return {
    pass(bytes) {
      if (isSeen) return Buffer.alloc(0);
      const all = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      const at = all.indexOf(mark);
      isSeen = at >= 0;
      const end = isSeen ? at : all.length - beginning(all, mark);
      held = Buffer.from(all.subarray(end));
      return all.subarray(0, end);
    },
    get isSeen() {
      return isSeen;
    },
  };
}

/** How many of the last bytes are the first ones of the mark. */
function beginning(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(bytes.length, mark.length - 1); length > 0; length--) {
    if (bytes.subarray(bytes.length - length).equals(mark.subarray(0, length))) return length;
  }
  return 0;
}
