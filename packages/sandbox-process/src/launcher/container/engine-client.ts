import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { json, text } from "node:stream/consumers";
import type { Readable } from "node:stream";

/** What an engine refused, or that none answered. `status` is undefined when nobody did. */
export class EngineError extends Error {
  readonly status: number | undefined;
  /** What the operating system said where nobody answered: `ENOENT`, `EACCES`. */
  readonly systemCode: string | undefined;

  constructor(message: string, { status, systemCode }: { readonly status?: number; readonly systemCode?: string | undefined } = {}) {
    super(message);
    this.name = "EngineError";
    this.status = status;
    this.systemCode = systemCode;
  }
}

export interface EngineRequest {
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as it comes, a tar archive. Not together with `body`. */
  readonly stream?: Readable;
  /** Undefined waits for as long as the engine does. */
  readonly timeoutMs?: number;
}

/**
 * The Engine API of Docker, which Podman speaks too, over a unix socket.
 *
 * Plain `node:http`: dockerode sends the body of an attach into the container's stdin on Podman, and brings gRPC and SSH
 * with it, of which nothing is used here (docs/decisions/0021-containers.md).
 */
export interface EngineClient {
  readonly socketPath: string;
  /** Parsed JSON, or undefined for an answer without a body. Rejects with `EngineError`. */
  call(method: "GET" | "POST" | "DELETE", path: string, options?: EngineRequest): Promise<unknown>;
  /** The body as it comes, for answers that go on. */
  open(method: "GET" | "POST", path: string, options?: EngineRequest): Promise<IncomingMessage>;
  /** Turns the connection into the raw stream of a container or an exec. */
  hijack(path: string, body?: object): Promise<Socket>;
  close(): void;
}

const defaultTimeoutMs = 30_000;

/** @param version of the API, as in `1.41`; undefined is the engine's newest */
export function createEngineClient(socketPath: string, version?: string): EngineClient {
  const agent = new Agent({ keepAlive: true });
  const prefix = version === undefined ? "" : `/v${version}`;
  const send = (method: string, path: string, options: EngineRequest): Promise<IncomingMessage> => sendRequest({ socketPath, agent, method, path: `${prefix}${path}` }, options);
  return {
    socketPath,
    async call(method, path, options = {}) {
      const response = await send(method, path, { timeoutMs: defaultTimeoutMs, ...options });
      if (response.headers["content-type"]?.startsWith("application/json") !== true) return void (await text(response));
      return json(response).catch(() => undefined);
    },
    open: (method, path, options = {}) => send(method, path, options),
    hijack: (path, body) => hijack(socketPath, `${prefix}${path}`, body),
    close: () => agent.destroy(),
  };
}

interface Target {
  readonly socketPath: string;
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
}

function sendRequest({ socketPath, agent, method, path }: Target, { query = {}, body, stream, timeoutMs }: EngineRequest): Promise<IncomingMessage> {
  const search = new URLSearchParams(query).toString();
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const headers = stream === undefined ? (payload === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) }) : { "content-type": "application/x-tar" };
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, agent, method, path: search === "" ? path : `${path}?${search}`, headers, ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }) });
    sent.on("error", (fault: NodeJS.ErrnoException) => reject(new EngineError(fault.message, { systemCode: fault.code })));
    sent.on("timeout", () => sent.destroy(new Error(`no answer to ${method} ${path} within ${timeoutMs} ms`)));
    sent.on("response", (response) => {
      const status = response.statusCode ?? 500;
      if (status < 400) resolve(response);
      else refusal(response, status).then(reject, reject);
    });
    if (stream === undefined) sent.end(payload);
    else stream.on("error", (fault) => sent.destroy(fault)).pipe(sent);
  });
}

async function refusal(response: IncomingMessage, status: number): Promise<EngineError> {
  const said = await text(response);
  return new EngineError(messageOf(said) ?? `status ${status}`, { status });
}

function messageOf(said: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(said);
    return typeof parsed === "object" && parsed !== null && "message" in parsed && typeof parsed.message === "string" ? parsed.message.trim() : undefined;
  } catch {
    return said.trim() === "" ? undefined : said.trim().slice(0, 400);
  }
}

function hijack(socketPath: string, path: string, body?: object): Promise<Socket> {
  // Podman takes what comes after the head of an attach for the container's input: no body, not even an empty object.
  const payload = body === undefined ? "" : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, agent: false, method: "POST", path, headers: { connection: "Upgrade", upgrade: "tcp", "content-type": "application/json", "content-length": Buffer.byteLength(payload) } });
    sent.on("error", (fault) => reject(new EngineError(fault.message)));
    sent.on("upgrade", (_response, socket: Socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    sent.on("response", (response) => void refusal(response, response.statusCode ?? 500).then(reject, reject));
    sent.end(payload);
  });
}
