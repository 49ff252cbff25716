import { randomBytes } from "node:crypto";
import { guestProtocolVersion } from "@callgate/contract";
import type { GuestConnection } from "@callgate/contract";
import { createFrameSplitter, FrameError, maxHeadBytes, writeFrame } from "../frames/frame-splitter.ts";
import { parseGuestFrame } from "../frames/guest-frame.ts";
import type { GuestFrame } from "../frames/guest-frame.ts";
import { launchCommand } from "../language/plain-boot.ts";
import type { GuestLanguage } from "../language/guest-language.ts";
import type { ArtifactBounds } from "./artifact-bounds.ts";
import type { GuestExit, LaunchBounds, Launcher, Mount, ResourceUse } from "../launcher/launcher.ts";

/** What happens to a guest, told to whoever runs a program in it. */
export interface GuestEars {
  frame(frame: GuestFrame): void;
  /** Raw bytes of descriptor 1 or 2. */
  stream(stream: 1 | 2, bytes: Buffer): void;
  /** What a plain guest says beside its output. */
  control(bytes: Buffer): void;
  /** Something went through its way out. */
  connection(connection: GuestConnection): void;
  /** The guest broke the protocol. */
  broken(message: string): void;
}

/** Why a guest never took a job. */
export interface UnreadyReason {
  readonly message: string;
  /** The interpreter, when it is what is not there. */
  readonly missingProgram?: string;
}

/** A process that can run a program, before and while it does. */
export interface StartedGuest {
  readonly language: GuestLanguage;
  readonly bounds: LaunchBounds;
  /** Resolves with undefined when it can take a job, with the reason when it never will. Never rejects. */
  readonly ready: Promise<UnreadyReason | undefined>;
  /** Never rejects. Resolves when nothing of it lives and all its output was heard. */
  readonly gone: Promise<GuestExit>;
  readonly isGone: boolean;
  /** Never rejects. Resolves when it was told to end, or ended. */
  readonly ending: Promise<void>;
  /** What both streams get when a plain program has ended. */
  readonly mark: string;
  /** Resolves when descriptors 1 and 2 are closed by everyone. */
  readonly drained: Promise<void>;
  listen(ears: GuestEars): void;
  send(head: object, payload?: string): void;
  /** For a plain guest: more text. */
  write(text: string): void;
  /** For a plain program: its text, and the end of it. */
  endWith(text: string): void;
  use(): ResourceUse | undefined;
  interrupt(): void;
  kill(): void;
}

/** Bytes of one frame a guest may send at all; each kind has its own, lower bound. */
const maxPayloadBytes = 64 * 1024 * 1024;
/** What a shell and prlimit exit with when a program is not there. */
const notFoundCode = 127;
/** What a guest that never spoke had to say, for the message. */
const maxEarlyBytes = 4_096;

export interface StartOptions {
  readonly launcher: Launcher;
  readonly language: GuestLanguage;
  readonly bounds: LaunchBounds;
  readonly mounts: readonly Mount[];
  readonly environment: Readonly<Record<string, string>>;
  /** What files of a plain program may come back. */
  readonly artifacts: ArtifactBounds;
  /** True for a guest that takes one block after the other. */
  readonly isSession?: boolean;
}

/** Starts an interpreter. Throws what the launcher throws. */
export function startGuest({ launcher, language, bounds, mounts, environment, artifacts, isSession = false }: StartOptions): StartedGuest {
  const mark = randomBytes(12).toString("hex");
  const launched = launcher.launch({
    command: launchCommand(language, { memoryMiB: bounds.memoryMiB, ...artifacts, isSession, mark }),
    language: language.language,
    ...(language.guestFile === undefined ? {} : { guestFile: language.guestFile }),
    ...(language.program === undefined ? {} : { program: language.program }),
    environment: { ...language.environment, ...environment },
    bounds: { ...bounds, reservedMiB: language.reservedMiB ?? 0 },
    mounts,
  });
  const ready = Promise.withResolvers<UnreadyReason | undefined>();
  const ending = Promise.withResolvers<void>();
  const early = createEarlyText();
  let ears: GuestEars | undefined;
  let isGone = false;

  function hear(frame: GuestFrame): void {
    if (frame.kind !== "hello" || ears !== undefined) return ears?.frame(frame);
    ready.resolve(frame.protocol === guestProtocolVersion ? undefined : { message: `the guest speaks version ${frame.protocol} of the protocol, this host ${guestProtocolVersion}` });
  }
  const read = (stream: 1 | 2, readable: NodeJS.ReadableStream): Promise<void> => {
    readable.on("data", (bytes: Buffer) => (ears === undefined ? early.add(bytes) : ears.stream(stream, bytes)));
    return closed(readable);
  };
  const streamEnds = [read(1, launched.stdout), read(2, launched.stderr)];
  const framesEnd = closed(launched.frames);
  if (language.kind === "framed") readFrames(launched.frames, { onFrame: hear, onBroken: (message) => ears?.broken(message) });
  else {
    launched.frames.on("data", (bytes: Buffer) => ears?.control(bytes));
    ready.resolve(undefined);
  }
  launched.onConnection?.((connection) => ears?.connection(connection));
  const gone = goneWhen(launched.exited, [...streamEnds, framesEnd]).then((exit) => {
    isGone = true;
    ending.resolve();
    ready.resolve(unreadyReason(exit, language, early.text));
    return exit;
  });
  return {
    language,
    bounds,
    ready: ready.promise,
    gone,
    get isGone() {
      return isGone;
    },
    mark,
    drained: Promise.all(streamEnds).then(() => undefined),
    listen(hearing) {
      ears = hearing;
    },
    send: (head, payload) => void launched.commands.write(writeFrame(head, payload)),
    write: (text) => void launched.commands.write(text),
    endWith: (text) => void launched.commands.end(text),
    use: () => launched.use(),
    interrupt: () => launched.interrupt(),
    ending: ending.promise,
    kill: () => (ending.resolve(), launched.kill()),
  };
}

function unreadyReason(exit: GuestExit, { command }: GuestLanguage, said: string): UnreadyReason {
  const [interpreter = ""] = command;
  const isMissing = exit.failure === undefined && exit.code === notFoundCode;
  return { message: exit.failure ?? `the interpreter ${interpreter} could not be started${said === "" ? "" : `: ${said}`}`, ...(isMissing ? { missingProgram: interpreter } : {}) };
}

function closed(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => stream.once("close", () => resolve()));
}

/** A machine under load was seen to take a second to hand over what was written. */
const stuckMs = 5_000;

/** Everybody who could write is dead, so the streams end by themselves; a stuck one is not waited for. */
async function goneWhen(exited: Promise<GuestExit>, streams: readonly Promise<void>[]): Promise<GuestExit> {
  const exit = await exited;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, stuckMs);
  });
  await Promise.race([Promise.all(streams), late]);
  clearTimeout(timer);
  return exit;
}

function readFrames(frames: NodeJS.ReadableStream, { onFrame, onBroken }: { readonly onFrame: (frame: GuestFrame) => void; readonly onBroken: (message: string) => void }): void {
  const splitter = createFrameSplitter({ headBytes: maxHeadBytes, payloadBytes: maxPayloadBytes });
  let isBroken = false;
  frames.on("data", (chunk: Buffer) => {
    if (isBroken) return;
    try {
      for (const raw of splitter.push(chunk)) onFrame(parseGuestFrame(raw));
    } catch (error) {
      isBroken = true;
      onBroken(error instanceof FrameError ? error.message : "a frame could not be read");
    }
  });
}

function createEarlyText(): { add(bytes: Buffer): void; readonly text: string } {
  let text = "";
  return {
    add(bytes) {
      if (text.length < maxEarlyBytes) text += bytes.toString("utf8", 0, maxEarlyBytes);
    },
    get text() {
      return text.trim();
    },
  };
}
