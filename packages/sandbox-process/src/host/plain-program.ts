import type { GuestEnd } from "@callgate/contract";
import type { GuestFrame } from "../frames/guest-frame.ts";
import { createMarkFilter } from "../output/mark-filter.ts";
import type { ArtifactBounds } from "./artifact-bounds.ts";
import { exitEnd, missingEnd } from "./guest-end.ts";
import { createPlainHearing } from "./plain-hearing.ts";
import type { StartedGuest } from "./started-guest.ts";

/** What one plain program says: its output, and beside it its end and its files. */
export interface PlainProgram {
  /** Bytes of descriptor 1 or 2. */
  stream(stream: 1 | 2, bytes: Buffer): void;
  /** Bytes of descriptor 4. */
  control(bytes: Buffer): void;
  /** Once it told its exit code. Its output may still be on its way. */
  readonly end: GuestEnd | undefined;
}

export interface PlainProgramOptions {
  readonly artifacts: ArtifactBounds;
  readonly file: (file: GuestFrame) => void;
  readonly tell: (stream: 1 | 2, bytes: Buffer) => void;
  /** It has ended, and all that it wrote itself was told. */
  readonly finish: (end: GuestEnd) => void;
}

/** What brings its output may be slow on a busy machine, or was ended by it; it is not waited for longer. */
const drainMs = 5_000;

/**
 * Hears a plain program out. Its own output ends with the mark that its guest was started with: its children may hold the
 * streams open for long. A framed guest says all that in frames; of it, everything is output.
 */
export function hearPlainProgram(guest: StartedGuest, { artifacts, file, tell, finish }: PlainProgramOptions): PlainProgram {
  if (guest.language.kind === "framed") return { stream: tell, control: () => undefined, end: undefined };
  const mark = Buffer.from(`\0${guest.mark}\0`);
  const filters = { 1: createMarkFilter(mark), 2: createMarkFilter(mark) };
  const marked = Promise.withResolvers<void>();
  let end: GuestEnd | undefined;
  const hearing = createPlainHearing({
    artifacts,
    file,
    note: (text) => tell(2, text),
    ended(code) {
      const told = (end = exitEnd(code));
      const late = setTimeout(() => finish(told), drainMs);
      Promise.race([marked.promise, guest.drained]).then(() => finish(told), () => undefined).finally(() => clearTimeout(late)).catch(() => undefined);
    },
    missing: () => finish(missingEnd(guest.language)),
  });
  return {
    stream(stream, bytes) {
      tell(stream, filters[stream].pass(bytes));
      if (filters[1].isSeen && filters[2].isSeen) marked.resolve();
    },
    control: (bytes) => hearing.push(bytes),
    get end() {
      return end;
    },
  };
}
