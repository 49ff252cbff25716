import { randomUUID } from "node:crypto";
import { FrameError } from "../frames/frame-splitter.ts";
import type { GuestExit, LaunchedGuest, ResourceUse } from "../launcher/launcher.ts";
import type { GuestOrder } from "./guest-order.ts";
import { createLink } from "./link.ts";
import type { Link } from "./link.ts";
import type { Greet } from "./remote-connection.ts";
import { createRemoteStreams } from "./remote-streams.ts";
import { stayConnected } from "./stay-connected.ts";
import { textField, wholeField } from "./wire.ts";
import type { Wire, WireFrame } from "./wire.ts";

export interface RemoteGuestOptions {
  readonly greet: Greet;
  readonly order: GuestOrder;
  /** Our own guest, which the server is handed. */
  readonly file: Uint8Array;
}

/**
 * A guest on another host. What goes to it and comes from it is numbered and acknowledged; when the connection breaks,
 * another one goes on where the first ended, so nothing is lost and nothing comes twice. When it cannot be had again in
 * the server's grace, the server has ended the guest, and `exited` says that the connection was lost.
 */
export function launchRemoteGuest({ greet, order, file }: RemoteGuestOptions): LaunchedGuest {
  const { promise: exited, resolve } = Promise.withResolvers<GuestExit>();
  let exit: GuestExit | undefined;
  let used: ResourceUse | undefined;

  const link = createLink({ hear: (frame) => (frame.kind === "exit" ? finish(exitOf(frame)) : streams.hear(frame)) });
  const streams = createRemoteStreams((head, payload) => link.send(head, payload));
  const opener = createOpener({ link, order, file, hearUse: (now) => (used = now) });

  function finish(ended: GuestExit): void {
    exit ??= ended;
    resolve(exit);
  }

  function lose(reason: string): void {
    finish({ code: undefined, signal: undefined, outOfMemory: false, failure: `the guest on the server: ${reason}` });
    streams.end();
  }

  const unstarted = "it was ended before it was started";
  stayConnected({
    greet,
    open: (wire) => (exit === undefined || opener.isOrdered ? opener.open(wire) : Promise.resolve(unstarted)),
    isOver: () => exit !== undefined && streams.open === 0,
  }).then(lose, (fault: unknown) => lose(fault instanceof FrameError ? `the server broke the protocol: ${fault.message}` : "the connection to the server failed"));

  return {
    stdout: streams.stdout,
    stderr: streams.stderr,
    frames: streams.frames,
    commands: streams.commands,
    exited,
    use: () => (exit === undefined ? used : undefined),
    interrupt: () => link.send({ k: "interrupt" }),
    kill() {
      if (!opener.isOrdered) lose(unstarted);
      else if (exit === undefined) link.send({ k: "kill" });
    },
  };
}

interface Opener {
  /** The order may have arrived: from here on the guest may live. */
  readonly isOrdered: boolean;
  /**
   * Names the guest; resolves with why it was refused. The order goes along until the server is known to have it: a guest
   * that it has, or had, is not started again.
   */
  open(wire: Wire): Promise<string | undefined>;
}

interface OpenerOptions extends Pick<RemoteGuestOptions, "order" | "file"> {
  readonly link: Link;
  readonly hearUse: (use: ResourceUse) => void;
}

function createOpener({ link, order, file, hearUse }: OpenerOptions): Opener {
  const id = randomUUID();
  let isOrdered = false;
  let isOpened = false;

  /** The connection without its reports of use, which have no number: the last one counts. */
  const withoutUse = (wire: Wire): Wire => ({
    ...wire,
    listen: (hear) => wire.listen((frame) => (frame.kind === "use" ? hearUse({ cpuMs: wholeField(frame.head, "cpuMs"), memoryMiB: wholeField(frame.head, "memoryMiB") }) : hear(frame))),
  });

  return {
    get isOrdered() {
      return isOrdered;
    },
    open: (wire) => new Promise((tell) => {
      wire.closed.then(() => tell(undefined), () => undefined);
      const calm = withoutUse(wire);
      calm.listen(({ kind, head }) => {
        if (kind === "refused") return tell(`the server refused: ${textField(head, "message", 4_000)}`);
        if (kind !== "opened") throw new FrameError(`"${kind}" came where the guest was to be opened`);
        isOpened = true;
        link.attach(calm, wholeField(head, "received"));
        tell(undefined);
      });
      isOrdered = true;
      wire.send({ k: "open", guest: id, received: link.received, ...(isOpened ? {} : { launch: order }) }, isOpened ? undefined : file);
    }),
  };
}

function exitOf({ head }: WireFrame): GuestExit {
  const failure = textOf(head["failure"]);
  return { code: typeof head["code"] === "number" ? head["code"] : undefined, signal: textOf(head["signal"]), outOfMemory: head["outOfMemory"] === true, ...(failure === undefined ? {} : { failure: `the guest was ended by its server: ${failure}` }) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value.slice(0, 1_000) : undefined;
}
