import { connect as connectTcp } from "node:net";
import { checkServerIdentity, connect as connectTls } from "node:tls";
import type { Duplex } from "node:stream";
import { CallgateError } from "@callgate/contract";
import type { LauncherProbe } from "../launcher/launcher.ts";
import { createWire, defaultSilenceMs, remoteProtocolVersion, wholeField } from "./wire.ts";
import type { Wire, WireFrame } from "./wire.ts";

export interface RemoteOptions {
  /** `tls://host:port`. `tcp://127.0.0.1:port` only with `unsafePlainLoopback`. */
  readonly url: string;
  /** What the server was started with. */
  readonly token?: string;
  /** The authority of the server's certificate, PEM. Default: those of this system. */
  readonly ca?: string;
  /** This client's own certificate and key, PEM, where the server asks for one. */
  readonly cert?: string;
  readonly key?: string;
  readonly unsafePlainLoopback?: boolean;
  /** A connection that is silent for so long is taken for dead. Default 15 seconds. */
  readonly silenceMs?: number;
}

/** What a server said when it let a client in. */
export interface Welcome {
  readonly launcher: string;
  readonly probe: LauncherProbe;
  readonly graceMs: number;
  readonly silenceMs: number;
}

export type Greeting =
  | { readonly kind: "welcome"; readonly wire: Wire; readonly welcome: Welcome }
  /** The server said no, or is not the one that was meant: another try ends the same. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unreachable"; readonly reason: string };

/** Connects, and is let in or not. Never rejects. */
export type Greet = () => Promise<Greeting>;

const loopback = ["127.0.0.1", "[::1]", "localhost"];

/** Throws `CallgateError` CONFIG_INVALID for options that cannot be meant. */
export function createGreet(options: RemoteOptions): Greet {
  const url = URL.parse(options.url);
  const isTls = url?.protocol === "tls:";
  if (url === null || url.port === "" || (!isTls && url.protocol !== "tcp:")) throw new CallgateError("CONFIG_INVALID", `sandbox.remote.url is tls://host:port, not "${options.url}"`);
  if (!isTls && (options.unsafePlainLoopback !== true || !loopback.includes(url.hostname))) throw new CallgateError("CONFIG_INVALID", "sandbox.remote: programs, their data and the token do not go over a network in clear. Use tls://; tcp:// is for loopback with unsafePlainLoopback");
  if (isTls && (options.cert === undefined) !== (options.key === undefined)) throw new CallgateError("CONFIG_INVALID", "sandbox.remote: cert and key go together");
  return async () => {
    const opened = await openSocket(options, { isTls, host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(url.port) });
    return opened.kind === "opened" ? await greet(createWire(opened.socket, options.silenceMs ?? defaultSilenceMs), options) : opened;
  };
}

type Opened = { readonly kind: "opened"; readonly socket: Duplex } | Exclude<Greeting, { kind: "welcome" }>;

function openSocket({ ca, cert, key, silenceMs = defaultSilenceMs }: RemoteOptions, { isTls, host, port }: { readonly isTls: boolean; readonly host: string; readonly port: number }): Promise<Opened> {
  return new Promise((resolve) => {
    const secrets = { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert, key }) };
    const socket = isTls ? connectTls({ host, port, minVersion: "TLSv1.3", checkServerIdentity, ...secrets }) : connectTcp({ host, port });
    socket.setNoDelay(true);
    const late = setTimeout(() => give({ kind: "unreachable", reason: `${host}:${port} did not answer in ${silenceMs} ms` }), silenceMs);
    function give(opened: Opened): void {
      clearTimeout(late);
      if (opened.kind !== "opened") socket.destroy();
      resolve(opened);
    }
    socket.once("error", (error: NodeJS.ErrnoException) => give(failure(error, `${host}:${port}`)));
    socket.once(isTls ? "secureConnect" : "connect", () => give({ kind: "opened", socket }));
  });
}

function failure({ code = "", message }: NodeJS.ErrnoException, where: string): Exclude<Greeting, { kind: "welcome" }> {
  if (/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code)) return { kind: "refused", reason: `the certificate of ${where} is not one to trust (${code}): ${message}. Set sandbox.remote.ca to the authority of its certificate, and name the host as it does` };
  return { kind: "unreachable", reason: `${where} cannot be reached (${code || message})` };
}

async function greet(wire: Wire, { token, silenceMs = defaultSilenceMs }: RemoteOptions): Promise<Greeting> {
  const answer = new Promise<Greeting>((resolve) => {
    wire.listen((frame) => resolve(readGreeting(wire, frame)));
    wire.closed.then((reason) => resolve({ kind: "unreachable", reason: /alert|certificate/i.test(reason) ? `${reason}: the server wants a certificate of this client; set sandbox.remote.cert and key` : reason }), () => undefined);
  });
  wire.send({ k: "hello", protocol: remoteProtocolVersion, token });
  const late = setTimeout(() => wire.destroy(), silenceMs);
  const greeting = await answer;
  clearTimeout(late);
  if (greeting.kind !== "welcome") wire.destroy();
  return greeting;
}

function readGreeting(wire: Wire, { kind, head }: WireFrame): Greeting {
  if (kind === "refused") return { kind: "refused", reason: `the server refused: ${String(head["message"]).slice(0, 1_000)}` };
  if (kind !== "welcome" || head["protocol"] !== remoteProtocolVersion) return { kind: "refused", reason: "the server does not speak this version of the protocol" };
  return { kind: "welcome", wire, welcome: { launcher: String(head["launcher"]).slice(0, 100), probe: readProbe(head["probe"]), graceMs: wholeField(head, "graceMs"), silenceMs: wholeField(head, "silenceMs") } };
}

function readProbe(value: unknown): LauncherProbe {
  const { kind, missing, reason, fix } = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  if (kind === "ready") return { kind, missing: Array.isArray(missing) ? missing.map((text) => String(text).slice(0, 500)) : [] };
  return { kind: "unavailable", reason: `on the server: ${String(reason).slice(0, 1_000)}`, fix: String(fix).slice(0, 1_000) };
}
