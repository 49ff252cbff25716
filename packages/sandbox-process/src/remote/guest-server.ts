import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import type { Duplex } from "node:stream";
import { CallgateError } from "@callgate/contract";
import { isSameToken } from "../host/is-same-token.ts";
import { FrameError } from "../frames/frame-splitter.ts";
import type { Launcher, Mount } from "../launcher/launcher.ts";
import { parseGuestOrder } from "./guest-order.ts";
import type { GuestOrder } from "./guest-order.ts";
import { serveGuest } from "./served-guest.ts";
import type { ServedGuest } from "./served-guest.ts";
import { allowedMounts, defaultServerBounds, memoryOf, tooMuch } from "./server-bounds.ts";
import type { ServerBounds } from "./server-bounds.ts";
import { checkMounts, currentMounts } from "../mounts/check-mounts.ts";
import type { MountRules } from "../mounts/check-mounts.ts";
import { createWire, defaultSilenceMs, remoteProtocolVersion, textField, wholeField } from "./wire.ts";
import type { Wire, WireFrame } from "./wire.ts";

export interface GuestServerOptions {
  /** What stands around guests on this host. */
  readonly launcher: Launcher;
  /** The server's certificate and key, PEM. `clientCa`: only clients with a certificate of it are heard. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string };
  /** What clients show. Needed unless there is a `clientCa`. */
  readonly token?: string;
  /** No TLS. Listens on loopback only, for a tunnel that somebody else secures. */
  readonly unsafePlainLoopback?: boolean;
  readonly bounds?: Partial<ServerBounds>;
  /** Folders of this host that guests may be given. Default: none. */
  readonly mounts?: readonly Pick<Mount, "host" | "mode">[];
  /** What must not be mounted beside what never may. */
  readonly mountRules?: MountRules;
  /** Programs of this host that a guest's command may begin with, by name. Default: node. */
  readonly programs?: Readonly<Record<string, string>>;
  /** A connection that is silent for so long is taken for dead. Default 15 seconds. */
  readonly silenceMs?: number;
}

export interface GuestServer {
  /** Starts to listen; tells where. Rejects with `CallgateError` DRIVER_FAILED when it cannot. */
  listen(at: { readonly host: string; readonly port: number }): Promise<{ readonly port: number }>;
  /** Guests that live. */
  readonly guests: number;
  /** Ends every guest. */
  close(): Promise<void>;
}

const helloMs = 10_000;
const loopback = ["127.0.0.1", "::1", "localhost"];
/** Ids of guests that are over; none of them is started again. */
const maxRemembered = 10_000;

interface Entry {
  readonly served: ServedGuest;
  readonly memoryMiB: number;
}

/** What one server keeps. */
interface State {
  readonly options: GuestServerOptions;
  readonly bounds: ServerBounds;
  readonly silenceMs: number;
  readonly guests: Map<string, Entry>;
  readonly over: Set<string>;
  /** Where guest files of clients are put. */
  readonly folder: string;
}

/**
 * Runs guests for Callgate on other hosts: `callgate sandbox serve`. What a guest may do is bounded here, by this host's
 * launcher and `bounds`, whatever a client asks for. A guest belongs to who showed the same token or certificate and
 * knows its id; when its client is away for longer than `graceMs`, it is ended.
 *
 * Throws `CallgateError` CONFIG_INVALID for a server that would let anyone in, or speak in clear, MOUNT_REFUSED for one
 * that would hand this host over by a mount.
 */
export function createGuestServer(options: GuestServerOptions): GuestServer {
  const { tls, token, unsafePlainLoopback = false } = options;
  if (tls === undefined && !unsafePlainLoopback) throw new CallgateError("CONFIG_INVALID", "Cannot serve guests without TLS: give a certificate and a key, or unsafePlainLoopback on loopback");
  if (token === undefined && tls?.clientCa === undefined) throw new CallgateError("CONFIG_INVALID", "Cannot serve guests to everyone: give a token, or the authority of client certificates");
  if (token !== undefined && token.length < 16) throw new CallgateError("CONFIG_INVALID", "The token of a guest server needs 16 characters or more, from a random source");
  checkMounts((options.mounts ?? []).map((mount, index) => ({ ...mount, guest: `/mount-${index}` })), options.mountRules);
  const state: State = { options, bounds: { ...defaultServerBounds, ...options.bounds }, silenceMs: options.silenceMs ?? defaultSilenceMs, guests: new Map(), over: new Set(), folder: mkdtempSync(join(tmpdir(), "callgate-serve-")) };
  const wires = new Set<Wire>();
  const accept = (socket: Duplex): void => {
    const wire = createWire(socket, state.silenceMs);
    wires.add(wire);
    wire.closed.then(() => wires.delete(wire), () => undefined);
    greet(state, wire, socket);
  };
  const server: Server = tls === undefined ? createTcpServer({ noDelay: true }, accept) : createTlsServer({ cert: tls.cert, key: tls.key, minVersion: "TLSv1.3", handshakeTimeout: helloMs, noDelay: true, ...(tls.clientCa === undefined ? {} : { ca: tls.clientCa, requestCert: true, rejectUnauthorized: true }) }, accept);
  server.maxConnections = state.bounds.guests * 2 + 16;
  server.on("tlsClientError", () => undefined);
  return {
    async listen({ host, port }) {
      if (unsafePlainLoopback && !loopback.includes(host)) throw new CallgateError("CONFIG_INVALID", `Guests are not served in clear on ${host}: unsafePlainLoopback listens on 127.0.0.1 only. Give a certificate and a key`);
      await new Promise<void>((resolve, reject) => {
        server.once("error", (error) => reject(new CallgateError("DRIVER_FAILED", `Cannot serve guests on ${host}:${port}: ${error.message}`)));
        server.listen(port, host, resolve);
      });
      return { port: (server.address() as AddressInfo).port };
    },
    get guests() {
      return state.guests.size;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const all = [...state.guests.values()];
      for (const { served } of all) served.kill();
      await Promise.all(all.map(({ served }) => Promise.race([served.over, pause(1_000)])));
      for (const wire of wires) wire.destroy();
      await closed;
      await options.launcher.close?.();
      rmSync(state.folder, { recursive: true, force: true });
    },
  };
}

/** Hears who is there before anything else. */
function greet(state: State, wire: Wire, socket: Duplex): void {
  const late = setTimeout(() => wire.destroy(), helloMs);
  wire.closed.then(() => clearTimeout(late), () => undefined);
  let owner: string | undefined;
  wire.listen((frame) => {
    if (owner !== undefined) return clearTimeout(late), open(state, { wire, owner }, frame);
    const refusal = refusalOf(state, frame);
    if (refusal !== undefined) return refuse(wire, refusal);
    owner = ownerOf(frame, socket);
    void state.options.launcher.probe().then((probe) => {
      const { graceMs } = state.bounds;
      wire.send({ k: "welcome", protocol: remoteProtocolVersion, launcher: state.options.launcher.name, probe, graceMs, silenceMs: state.silenceMs });
    }, () => wire.destroy());
  });
}

interface Refused {
  readonly code: "VERSION" | "WHO" | "FULL" | "UNKNOWN_GUEST" | "REFUSED";
  readonly message: string;
}

function refusalOf({ options: { token } }: State, { kind, head }: WireFrame): Refused | undefined {
  if (kind !== "hello") return { code: "VERSION", message: "this is a server of Callgate guests, and what came is not its protocol" };
  const protocol = wholeField(head, "protocol");
  if (protocol !== remoteProtocolVersion) return { code: "VERSION", message: `it speaks version ${remoteProtocolVersion} of the protocol, the client ${protocol}. Install the same version of callgate on both` };
  if (token === undefined || isSameToken(typeof head["token"] === "string" ? head["token"] : "", token)) return undefined;
  return { code: "WHO", message: "the token is not the server's. Set sandbox.remote.token to what the server was started with" };
}

function open(state: State, { wire, owner }: { readonly wire: Wire; readonly owner: string }, { kind, head, payload }: WireFrame): void {
  if (kind !== "open") throw new FrameError(`"${kind}" came where a guest was to be named`);
  const id = `${owner} ${textField(head, "guest", 100)}`;
  const received = wholeField(head, "received");
  let served = state.guests.get(id)?.served;
  if (served === undefined) {
    if (head["launch"] === undefined || state.over.has(id)) return refuse(wire, { code: "UNKNOWN_GUEST", message: "it has no such guest (any more): it was restarted, or ended the guest after the grace" });
    const started = start(state, parseGuestOrder(head["launch"]), payload);
    if ("code" in started) return refuse(wire, started);
    served = started.served;
    keep(state, id, started);
  }
  wire.send({ k: "opened", received: served.received });
  served.attach(wire, received);
}

function keep({ guests, over }: State, id: string, entry: Entry): void {
  guests.set(id, entry);
  entry.served.over.then(() => {
    guests.delete(id);
    over.add(id);
    for (const oldest of over) if (over.size > maxRemembered) over.delete(oldest);
  }, () => undefined);
}

function start({ options, bounds, guests, folder }: State, order: GuestOrder, file: Buffer): Entry | Refused {
  const held = { guests: guests.size, memoryMiB: [...guests.values()].reduce((sum, { memoryMiB }) => sum + memoryMiB, 0) };
  const problem = tooMuch(bounds, held, order.bounds);
  if (problem !== undefined) return { code: "FULL", message: problem };
  const mounts = allowedMounts(options.mounts ?? [], order.mounts);
  if (typeof mounts === "string") return { code: "REFUSED", message: mounts };
  const programs = options.programs ?? { node: process.execPath };
  const program = order.program === undefined || !Object.hasOwn(programs, order.program) ? undefined : programs[order.program];
  if (order.program !== undefined && program === undefined) return { code: "REFUSED", message: `it has no program ${order.program}; it has ${Object.keys(programs).join(", ")}` };
  try {
    const guest = options.launcher.launch({
      command: order.command,
      environment: order.environment,
      bounds: order.bounds,
      mounts: currentMounts(mounts, options.mountRules),
      ...(file.length === 0 ? {} : { guestFile: fileFor(folder, file) }),
      ...(order.language === undefined ? {} : { language: order.language }),
      ...(order.program === undefined || program === undefined ? {} : { program: { name: order.program, file: program } }),
    });
    return { served: serveGuest({ guest, ...bounds }), memoryMiB: memoryOf(order.bounds) };
  } catch (fault) {
    return { code: "REFUSED", message: CallgateError.is(fault) ? fault.message : "the guest could not be started" };
  }
}

/** Clients bring their own guest; the same one is written once. */
function fileFor(folder: string, content: Buffer): URL {
  const path = join(folder, createHash("sha256").update(content).digest("hex"));
  try {
    writeFileSync(path, content, { flag: "wx", mode: 0o444 });
  } catch {} // It is there.
  return pathToFileURL(path);
}

function ownerOf({ head }: WireFrame, socket: Duplex): string {
  const certificate = socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : undefined;
  return certificate ?? createHash("sha256").update(typeof head["token"] === "string" ? head["token"] : "").digest("hex");
}

function refuse(wire: Wire, { code, message }: Refused): void {
  wire.send({ k: "refused", code, message });
  wire.end();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
