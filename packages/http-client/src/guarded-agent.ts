import type { Socket } from "node:net";
import { rootCertificates } from "node:tls";
import { Agent, buildConnector } from "undici";
import type { OriginGuard } from "./origin-guard.ts";
import type { HttpFailure } from "./http-result.ts";

export interface GuardedAgentOptions {
  readonly guard: OriginGuard;
  readonly connectMs: number;
  /** Authorities beside those of Node, PEM. */
  readonly ca?: string;
}

/** Why no connection was made. Nothing was sent. */
export class NotConnected extends Error {
  readonly reason: HttpFailure["reason"];
  readonly isTransient: boolean;

  constructor(reason: HttpFailure["reason"], message: string, init: { readonly isTransient: boolean; readonly cause?: unknown }) {
    super(message, { cause: init.cause });
    this.reason = reason;
    this.isTransient = init.isTransient;
  }
}

type ConnectOptions = buildConnector.Options;

const maxConnections = 64;
const maxHeaderBytes = 32 * 1024;

/**
 * Keeps connections to origins that the guard allows. Each connection goes to an address that was judged, one after the
 * other; no name is looked up again. Proxies of the environment are not used: they would look names up themselves.
 */
export function createGuardedAgent({ guard, connectMs, ca }: GuardedAgentOptions): Agent {
  const connectTo = buildConnector({ timeout: connectMs, allowH2: false, ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }) });
  return new Agent({
    connections: maxConnections,
    pipelining: 1,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, give) => {
      connect(options).then(
        (socket) => give(null, socket),
        (fault: unknown) => give(fault instanceof Error ? fault : new Error(String(fault)), null),
      );
    },
  });

  async function connect(options: ConnectOptions): Promise<Socket> {
    const origin = new URL(`${options.protocol}//${options.host ?? options.hostname}`).origin;
    const verdict = await within(guard(origin), connectMs, origin);
    if (verdict.kind === "refused") throw new NotConnected("refused", verdict.message, { isTransient: false });
    if (verdict.kind === "unresolved") throw new NotConnected("unresolved", `${origin} could not be reached: ${verdict.message}`, { isTransient: true });
    let last: unknown;
    for (const address of verdict.addresses) {
      try {
        // The name stays in `host` (and so in the certificate check); only where to is the address.
        return await once(connectTo, { ...options, hostname: address });
      } catch (fault) {
        last = fault;
      }
    }
    throw notConnected(origin, last);
  }
}

function once(connectTo: buildConnector.connector, options: ConnectOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connectTo(options, (fault, socket) => {
      // A fault comes without a second argument, whatever the types say.
      if (fault === null) resolve(socket);
      else reject(fault);
    });
  });
}

async function within<Value>(work: Promise<Value>, ms: number, origin: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new NotConnected("timed_out", `The name of ${origin} was not looked up within ${ms} ms`, { isTransient: true })), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function notConnected(origin: string, cause: unknown): NotConnected {
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
  if (code === "UND_ERR_CONNECT_TIMEOUT") return new NotConnected("timed_out", `${origin} took no connection in time`, { isTransient: true, cause });
  const isCertificate = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|ERR_TLS|HOSTNAME/.test(code);
  if (isCertificate) return new NotConnected("certificate", `${origin} showed a certificate that is not trusted (${code})`, { isTransient: false, cause });
  const how = code === "ECONNREFUSED" ? "nothing listens there" : code === "" ? "the connection failed" : code;
  return new NotConnected("unreachable", `${origin} could not be reached: ${how}`, { isTransient: true, cause });
}
