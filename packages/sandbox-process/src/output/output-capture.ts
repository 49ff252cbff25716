import { StringDecoder } from "node:string_decoder";
import type { GuestConsoleEntry, GuestOutput } from "@callgate/contract";

export type StreamNumber = 1 | 2;

/** Keeps the beginning and the end of what a program prints; what is between is counted, to the byte. */
export interface OutputCapture {
  /** Bytes of a stream. A character cut by a chunk border is put together again. */
  stream(stream: StreamNumber, bytes: Buffer): void;
  console(entry: GuestConsoleEntry): void;
  progress(output: Extract<GuestOutput, { kind: "progress" }>): void;
  /** So many bytes were left out already where they were printed. */
  drop(bytes: number): void;
  /** Tells what waits for the end of its line. */
  flush(): void;
  /** Tells the tail and what was left out. Call it once, when nothing more can come. */
  end(): void;
}

interface Entry {
  readonly entry: GuestConsoleEntry;
  readonly bytes: number;
}

/** A quarter of the bound is for the end of the output: a failure is there, not at the beginning. */
const tailShare = 1 / 4;
const levelOf: Readonly<Record<StreamNumber, GuestConsoleEntry["level"]>> = { 1: "log", 2: "error" };

/**
 * @param options.maxBytes UTF-8 bytes of console and progress output that are told, head and tail together
 * @param options.tell gets the head as it comes, and the tail at the end
 *
 * Lines of one stream that come in one piece are one entry without their last line break. Memory: `maxBytes` and one
 * chunk.
 */
export function createOutputCapture({ maxBytes, tell }: { readonly maxBytes: number; readonly tell: (output: readonly GuestOutput[]) => void }): OutputCapture {
  const decoders: Readonly<Record<StreamNumber, StringDecoder>> = { 1: new StringDecoder("utf8"), 2: new StringDecoder("utf8") };
  const sink = createSink(maxBytes, tell);
  let partial: { readonly stream: StreamNumber; readonly text: string } | undefined;

  function flush(): void {
    if (partial === undefined) return;
    const { stream, text } = partial;
    partial = undefined;
    sink.add({ level: levelOf[stream], text, partial: true }, Buffer.byteLength(text));
  }

  function printed(stream: StreamNumber, text: string): void {
    if (text === "") return;
    if (partial !== undefined && partial.stream !== stream) flush();
    const whole = partial === undefined ? text : partial.text + text;
    const end = whole.lastIndexOf("\n");
    if (end >= 0) {
      const lines = whole.slice(0, end);
      partial = undefined;
      sink.add({ level: levelOf[stream], text: lines }, Buffer.byteLength(lines) + 1);
    }
    const rest = whole.slice(end + 1);
    if (rest === "") return;
    partial = { stream, text: rest };
    // A program that never ends its line must not fill the host.
    if (rest.length > 8_192) flush();
  }

  return {
    stream: (stream, bytes) => printed(stream, decoders[stream].write(bytes)),
    console(entry) {
      flush();
      sink.add(entry, Buffer.byteLength(entry.text) + 1);
    },
    progress(output) {
      sink.progress(output, Buffer.byteLength(output.message) + 1);
    },
    drop(bytes) {
      flush();
      sink.drop(bytes);
    },
    flush,
    end() {
      for (const stream of [1, 2] as const) printed(stream, decoders[stream].end());
      flush();
      sink.end();
    },
  };
}

function createSink(maxBytes: number, tell: (output: readonly GuestOutput[]) => void) {
  const tailMax = Math.floor(maxBytes * tailShare);
  const headMax = maxBytes - tailMax;
  let headBytes = 0;
  let isHeadFull = false;
  let tail: Entry[] = [];
  let tailBytes = 0;
  let droppedBytes = 0;

  function addToTail(added: Entry): void {
    const kept = added.bytes > tailMax ? lastPart(added, tailMax) : added;
    droppedBytes += added.bytes - kept.bytes;
    tail.push(kept);
    tailBytes += kept.bytes;
    let from = 0;
    while (tailBytes > tailMax) {
      const oldest = tail[from];
      if (oldest === undefined) break;
      const excess = tailBytes - tailMax;
      const rest = oldest.bytes > excess ? lastPart(oldest, oldest.bytes - excess) : undefined;
      const lost = oldest.bytes - (rest?.bytes ?? 0);
      tailBytes -= lost;
      droppedBytes += lost;
      if (rest === undefined) from += 1;
      else tail[from] = rest;
    }
    if (from > 0) tail = tail.slice(from);
  }

  return {
    add(entry: GuestConsoleEntry, bytes: number): void {
      if (isHeadFull) return addToTail({ entry, bytes });
      if (headBytes + bytes <= headMax) {
        headBytes += bytes;
        return tell([{ kind: "console", entry }]);
      }
      isHeadFull = true;
      const [first, rest] = split({ entry, bytes }, headMax - headBytes);
      headBytes += first.bytes;
      if (first.bytes > 0) tell([{ kind: "console", entry: first.entry }]);
      if (rest.bytes > 0) addToTail(rest);
    },
    progress(output: GuestOutput, bytes: number): void {
      if (headBytes + bytes > headMax) droppedBytes += bytes;
      else {
        headBytes += bytes;
        tell([output]);
      }
    },
    drop(bytes: number): void {
      droppedBytes += bytes;
    },
    end(): void {
      tell([...tail.map(({ entry }, index): GuestOutput => ({ kind: "console", entry: index === 0 && droppedBytes > 0 ? { ...entry, droppedBefore: droppedBytes } : entry })), ...(droppedBytes > 0 ? [{ kind: "console-dropped", droppedBytes } as const] : [])]);
      tail = [];
      droppedBytes = 0;
    },
  };
}

/** The first `maxBytes` of an entry, ending with a whole line where there is one and never inside a character; and what follows. */
function split(whole: Entry, maxBytes: number): [Entry, Entry] {
  const bytes = Buffer.from(whole.entry.text);
  let end = characterStart(bytes, Math.min(Math.max(0, maxBytes - 1), bytes.length));
  const line = bytes.lastIndexOf(10, end - 1);
  if (end > 0 && line > 0) end = line;
  const skip = bytes[end] === 10 ? 1 : 0;
  const first = { entry: { level: whole.entry.level, text: bytes.toString("utf8", 0, end), ...(skip === 1 ? {} : { partial: true as const }) }, bytes: end + (end > 0 ? skip : 0) };
  const restStart = end > 0 ? end + skip : end;
  return [first, { entry: { ...whole.entry, text: bytes.toString("utf8", restStart) }, bytes: whole.bytes - first.bytes }];
}

function lastPart({ entry, bytes: wholeBytes }: Entry, maxBytes: number): Entry {
  const bytes = Buffer.from(entry.text);
  const extra = wholeBytes - bytes.length;
  let start = Math.max(0, bytes.length + extra - maxBytes);
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return { entry: { ...entry, text: bytes.toString("utf8", start) }, bytes: bytes.length - start + extra };
}

/** The largest position at or before `at` where a character starts. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
