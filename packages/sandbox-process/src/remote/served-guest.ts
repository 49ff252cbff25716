import { FrameError } from "../frames/frame-splitter.ts";
import type { GuestExit, LaunchedGuest } from "../launcher/launcher.ts";
import { deliverInto, sendStream } from "./flow.ts";
import type { Outflow, Send } from "./flow.ts";
import { createLink } from "./link.ts";
import { textField, wholeField } from "./wire.ts";
import type { Wire, WireFrame } from "./wire.ts";

/** A guest of a server: its processes here, its client elsewhere, now and then without a connection between them. */
export interface ServedGuest {
  /** Goes on over a new connection. Throws `FrameError` when client and server cannot have meant the same guest. */
  attach(wire: Wire, theirs: number): void;
  readonly received: number;
  kill(): void;
  /** Resolves when the guest is dead and its client knows all, or is not waited for any more. Never rejects. */
  readonly over: Promise<void>;
}

export interface ServedGuestOptions {
  readonly guest: LaunchedGuest;
  readonly idleMs: number;
  readonly graceMs: number;
}

/** How often the client is told what the guest uses, while it changes. */
const useMs = 50;

export function serveGuest({ guest, idleMs, graceMs }: ServedGuestOptions): ServedGuest {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let exit: GuestExit | undefined;
  let failure: string | undefined;
  let openStreams = 3;

  const link = createLink({ hear: (frame) => (idle.refresh(), act(frame)), onDone: settle });
  const send: Send = (head, payload) => {
    idle.refresh();
    if ((head as { readonly k?: unknown }).k === "end") openStreams -= 1;
    link.send(head, payload);
  };
  const idle = setTimeout(() => end(`it was idle for ${idleMs} ms`), idleMs);
  const client = createClientWatch(graceMs, () => {
    end(`its client was away for longer than ${graceMs} ms`);
    guest.exited.then(() => resolve(), () => undefined);
  });
  const act = createActs(guest, send);
  const use = watchUse(guest, (used) => client.wire?.send({ k: "use", ...used }));

  function end(why: string): void {
    failure ??= why;
    guest.kill();
  }

  /** Over when the client has the end, and the end of every stream. */
  function settle(): void {
    if (exit === undefined || openStreams > 0 || !link.isDone) return;
    client.wire?.end();
    resolve();
  }

  guest.exited.then((ended) => {
    exit = ended;
    use.stop();
    send({ k: "exit", code: ended.code, signal: ended.signal, outOfMemory: ended.outOfMemory, failure: failure ?? ended.failure });
  }, () => undefined);
  over.then(() => {
    client.stop();
    clearTimeout(idle);
  }, () => undefined);

  return {
    attach(wire, theirs) {
      client.takes(wire);
      link.attach(wire, theirs);
    },
    get received() {
      return link.received;
    },
    kill: () => end("the server stops"),
    over,
  };
}

/** What a client's frames do. */
function createActs(guest: LaunchedGuest, send: Send): (frame: WireFrame) => void {
  const flows = new Map<string, Outflow>([["stdout", sendStream(guest.stdout, "stdout", send)], ["stderr", sendStream(guest.stderr, "stderr", send)], ["frames", sendStream(guest.frames, "frames", send)]]);
  const commands = deliverInto(guest.commands, "commands", send);
  return ({ kind, head, payload }) => {
    switch (kind) {
      case "data":
        return commands.push(payload);
      case "end":
        return commands.end();
      case "grant":
        return flows.get(textField(head, "s", 20))?.grant(wholeField(head, "bytes"));
      case "interrupt":
        return guest.interrupt();
      case "kill":
        return guest.kill();
      default:
        throw new FrameError(`an unknown frame "${kind}" came`);
    }
  };
}

/** The connection there is, and how long there was none. */
function createClientWatch(graceMs: number, onAway: () => void): { readonly wire: Wire | undefined; takes(wire: Wire): void; stop(): void } {
  let wire: Wire | undefined;
  let isStopped = false;
  let away = setTimeout(onAway, graceMs);
  return {
    get wire() {
      return wire;
    },
    takes(next) {
      const before = wire;
      wire = next;
      clearTimeout(away);
      before?.destroy();
      next.closed.then(() => {
        if (wire !== next || isStopped) return;
        wire = undefined;
        away = setTimeout(onAway, graceMs);
      }, () => undefined);
    },
    stop() {
      isStopped = true;
      clearTimeout(away);
    },
  };
}

/** Tells what the guest uses; it is looked at where the limits are. */
function watchUse(guest: LaunchedGuest, tell: (use: { readonly cpuMs: number; readonly memoryMiB: number }) => void): { stop(): void } {
  let last = "";
  const timer = setInterval(() => {
    const used = guest.use();
    const whole = used && { cpuMs: Math.round(used.cpuMs), memoryMiB: Math.round(used.memoryMiB) };
    if (whole === undefined || JSON.stringify(whole) === last) return;
    last = JSON.stringify(whole);
    tell(whole);
  }, useMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
