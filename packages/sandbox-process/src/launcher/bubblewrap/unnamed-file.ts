import { closeSync, constants, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file without a name, for what a child reads or writes by descriptor. */
export interface UnnamedFile {
  /** A new descriptor at the beginning of the file. Whoever opens it closes it. */
  open(): number;
  /** Its own descriptor, for one child that writes to it. */
  readonly descriptor: number;
  /** The beginning of what is in it. */
  text(): string;
  close(): void;
}

export function createUnnamedFile(content: string | Uint8Array): UnnamedFile {
  const path = join(tmpdir(), `callgate-${randomUUID()}`);
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  unlinkSync(path);
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done, bytes.length - done, done);
  return {
    // Through /proc, because a duplicate would share its position with every other reader.
    open: () => openSync(`/proc/self/fd/${descriptor}`, constants.O_RDONLY),
    descriptor,
    text() {
      const read = Buffer.alloc(4_096);
      return read.toString("latin1", 0, readSync(descriptor, read, 0, read.length, 0));
    },
    close: () => closeSync(descriptor),
  };
}
