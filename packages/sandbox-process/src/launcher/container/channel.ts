import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The four streams of a guest, there before the guest is. What cannot be written any more is nobody's error. */
export interface ChannelStreams {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  readonly frames: PassThrough;
  readonly commands: Writable;
}

/** What brings commands to a guest once it can take them. */
export interface CommandSink {
  readonly stream: Writable;
  /** Ends the guest's descriptor 3. */
  end(): void;
}

/** The streams of a guest that is still to be made. */
export interface Channel {
  readonly streams: ChannelStreams;
  /** Gives commands their way in. */
  connect(sink: CommandSink): void;
  /** Resolves when all that the guest sent was fed in, or after `maxMs`. */
  drained(maxMs: number): Promise<void>;
  /** Ends what did not end. */
  close(): void;
}

export function createChannelStreams(): Channel {
  const { promise: sink, resolve } = Promise.withResolvers<CommandSink | undefined>();
  const commands = new Writable({
    write: (chunk: Buffer, _encoding, done) => void sink.then((to) => (to === undefined || to.stream.destroyed ? done() : void to.stream.write(chunk, () => done()))).catch(() => done()),
    final: (done) => void sink.then((to) => to?.end()).then(() => done(), () => done()),
  });
  const streams: ChannelStreams = { stdout: new PassThrough(), stderr: new PassThrough(), frames: new PassThrough(), commands };
  for (const stream of Object.values(streams)) stream.on("error", () => undefined);
  return {
    streams,
    connect: resolve,
    async drained(maxMs) {
      const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
      const timer = setTimeout(giveUp, maxMs);
      const open = [streams.stdout, streams.stderr, streams.frames].filter((stream) => !stream.writableEnded);
      await Promise.race([late, Promise.all(open.map((stream) => new Promise<void>((end) => stream.once("finish", () => end()))))]);
      clearTimeout(timer);
    },
    close() {
      resolve(undefined);
      for (const readable of [streams.stdout, streams.stderr, streams.frames]) if (!readable.writableEnded) readable.end();
    },
  };
}

const pipeNames = ["commands", "frames", "stdout", "stderr", "opened", "last"] as const;

export interface PipeFolder {
  readonly folder: string;
  /** Feeds the streams; `opened` resolves with the way in when the guest has opened its ends. */
  open(streams: ChannelStreams): { readonly opened: Promise<CommandSink>; readonly lastWord: Promise<string> };
  remove(): Promise<void>;
}

/**
 * Named pipes in a folder that host and container both see.
 *
 * Pipes and not a socket: a shell can open them for any command, so no image needs a program that connects; a program that
 * opens one again gets its own bytes. The folder is read-only inside; pipes can be opened all the same.
 */
export async function createPipeFolder(folder: string, guestFile: URL | undefined): Promise<PipeFolder> {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  await run("mkfifo", ["-m", "0666", ...pipeNames.map((name) => join(folder, name))]);
  // A place to mount a way out upon, since the folder is read-only inside.
  await writeFile(join(folder, "door"), "");
  if (guestFile !== undefined) {
    await copyFile(fileURLToPath(guestFile), join(folder, "guest"));
    await chmod(join(folder, "guest"), 0o444);
  }
  let sockets: readonly Socket[] = [];
  return {
    folder,
    open(streams) {
      const read = (name: Exclude<(typeof pipeNames)[number], "commands">): Socket => new Socket({ fd: openSync(join(folder, name), constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
      const readable = { frames: read("frames"), stdout: read("stdout"), stderr: read("stderr"), opened: read("opened"), last: read("last") };
      // Open for both, or there would have to be a reader already; only written to.
      const commands = new Socket({ fd: openSync(join(folder, "commands"), constants.O_RDWR | constants.O_NONBLOCK), readable: false, writable: true });
      sockets = [...Object.values(readable), commands];
      for (const socket of sockets) socket.on("error", () => undefined);
      for (const name of ["frames", "stdout", "stderr"] as const) readable[name].pipe(streams[name]);
      // The pipe's end is its last descriptor closed; a shutdown is for sockets.
      const sink: CommandSink = { stream: commands, end: () => void commands.destroy() };
      return { opened: new Promise((resolve) => readable.opened.resume().once("end", () => resolve(sink))), lastWord: lastWordOf(readable.last) };
    },
    async remove() {
      for (const socket of sockets) socket.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}


/** What the first process says when the guest has ended. It opens the pipe only then: a program could read what it holds. */
async function lastWordOf(pipe: Socket): Promise<string> {
  let said = "";
  pipe.on("data", (bytes: Buffer) => {
    if (said.length < 16) said += bytes.toString("latin1", 0, 16);
  });
  await new Promise<void>((resolve) => pipe.once("close", () => resolve()));
  return said.trim();
}
