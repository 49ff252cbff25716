import type { LogLevel, SourceNotice } from "@callgate/contract";
import { Client, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import type { ElicitResult, Transport } from "@modelcontextprotocol/client";
import { readHttpFailure } from "./http-failure.ts";
import type { HttpFailure } from "./http-failure.ts";
import { createHttpTransport } from "./http-transport.ts";
import type { HttpTransport, HttpTransportOptions } from "./http-transport.ts";
import { bodySchema } from "./result-body.ts";
import type { ResultBody } from "./result-body.ts";
import type { ServerTrace } from "./server-trace.ts";
import { createStdioTransport } from "./stdio-transport.ts";
import type { StdioTransport, StdioTransportOptions } from "./stdio-transport.ts";

export interface RequestOptions {
  readonly signal: AbortSignal;
  /** Without an answer. Default: none but the signal's. */
  readonly timeoutMs?: number;
  /** Without an answer or a word of progress. */
  readonly idleTimeoutMs?: number;
  /** Over HTTP, beside those of the connection. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly onProgress?: (progress: { readonly progress: number; readonly total?: number; readonly message?: string }) => void;
}

/** How a connection ended for those that come next; requests under way may still be answered. */
export type Ending =
  | { readonly kind: "gone"; readonly how: string }
  /** The server keeps no session of ours any more, or forgot it: a new one is to be had at once. */
  | { readonly kind: "session" }
  | { readonly kind: "sign_in"; readonly how: string };

/** One living server with which the protocol was agreed. */
export interface Connection {
  readonly trace: ServerTrace;
  /** `modern` is revision 2026-07-28 and later, `legacy` the `initialize` handshake before it. */
  readonly era: "modern" | "legacy";
  readonly instructions: string | undefined;
  readonly serverTitle: string | undefined;
  has(capability: "tools" | "resources" | "prompts"): boolean;
  /** Rejects with `RequestLost` where HTTP failed, with errors of the SDK else. */
  request(method: BodyMethod, params: Readonly<Record<string, unknown>>, options: RequestOptions): Promise<ResultBody>;
  /** Changes of this resource are told (`onNotice`) until the returned function is called. */
  subscribe(uri: string, signal: AbortSignal): Promise<() => Promise<void>>;
  /** Of the older era; the newer has no such request, and servers of it log elsewhere. */
  setLogLevel(level: LogLevel, signal: AbortSignal): Promise<void>;
  /** Resolves once it is of no use for further requests. */
  readonly ended: Promise<Ending>;
  close(): Promise<void>;
}

export type BodyMethod = "tools/list" | "tools/call" | "resources/list" | "resources/templates/list" | "resources/read" | "prompts/list" | "prompts/get";

/** An HTTP server: where `flavor` is not given, the newer transport is tried first. */
export type HttpServer = Omit<HttpTransportOptions, "flavor"> & { readonly flavor?: HttpTransportOptions["flavor"] };

export interface ConnectOptions {
  readonly server: StdioTransportOptions | HttpServer;
  readonly connectTimeoutMs: number;
  /** Skips the probe for the newer revision. */
  readonly knownLegacy: boolean;
  /** Lists may have changed; calls that come in a burst are already one. */
  readonly onListChanged: () => void;
  readonly onNotice: (notice: SourceNotice) => void;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Answers a question of the server, as its parameters came. Absent: the server is told that nobody does, and refused. */
  readonly onQuestion?: (params: unknown, signal: AbortSignal) => Promise<ElicitResult>;
  /** Gives up connecting. */
  readonly signal: AbortSignal;
}

/** Why no connection came about. `what` is a clause for `describeFailure`. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
  readonly trace: ServerTrace;
  /** Where it was HTTP that failed. */
  readonly failure: HttpFailure | undefined;

  constructor(what: string, trace: ServerTrace, more: { readonly cause: unknown; readonly failure: HttpFailure | undefined }) {
    super(what, { cause: more.cause });
    this.trace = trace;
    this.failure = more.failure;
  }
}

/** HTTP failed under a request. */
export class RequestLost extends Error {
  override readonly name = "RequestLost";
  readonly failure: HttpFailure;

  constructor(failure: HttpFailure, cause: unknown) {
    super(failure.what, { cause });
    this.failure = failure;
  }
}

/** Burst of `list_changed` notifications that counts as one. */
const LIST_CHANGED_DEBOUNCE_MS = 200;
/** Longest delay a timer takes; the caller's signal is what ends a call. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Starts or reaches the server and agrees on a protocol revision: the newest first, then the `initialize` handshake. A
 * process that dies of the unknown first question is started once more and asked the old way; a URL that has no
 * Streamable HTTP is tried as the older transport.
 *
 * Throws `ConnectError`; then the process is gone.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { server } = options;
  if (server.kind === "http") return await connectHttp(options, server);
  try {
    return await connectOnce(options, createStdioTransport(server), options.knownLegacy);
  } catch (error) {
    const diedOfProbe = !options.knownLegacy && error instanceof ConnectError && error.cause instanceof SdkError && error.cause.code === SdkErrorCode.EraNegotiationFailed;
    if (!diedOfProbe) throw error;
    return await connectOnce(options, createStdioTransport(server), true);
  }
}

async function connectHttp(options: ConnectOptions, { flavor, ...server }: HttpServer): Promise<Connection> {
  if (flavor === "sse") return await connectOnce(options, createHttpTransport({ ...server, flavor }), true);
  try {
    return await connectOnce(options, createHttpTransport({ ...server, flavor: "streamable" }), options.knownLegacy);
  } catch (error) {
    // As the specification tells clients to find servers of the older transport: they refuse the post.
    const mayBeOlder = flavor === undefined && error instanceof ConnectError && error.failure?.kind === "refused" && /HTTP (400|404|405)\b/.test(error.failure.what);
    if (!mayBeOlder) throw error;
    return await connectOnce(options, createHttpTransport({ ...server, flavor: "sse" }), true).catch(() => {
      throw error;
    });
  }
}

type AnyTransport = StdioTransport | HttpTransport;

async function connectOnce(options: ConnectOptions, transport: AnyTransport, legacy: boolean): Promise<Connection> {
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  transport.onclose = onClosed;
  const client = createClient(options);
  const timeout = AbortSignal.timeout(options.connectTimeoutMs);
  const signal = AbortSignal.any([timeout, options.signal]);
  try {
    await Promise.race([
      client.connect(transport as Transport, { timeout: options.connectTimeoutMs, signal, ...(legacy ? { prior: { kind: "legacy" as const } } : {}) }),
      rejectOn(signal),
    ]);
  } catch (error) {
    await transport.close();
    const failure = options.server.kind === "http" ? readHttpFailure(error, false) : undefined;
    throw new ConnectError(connectFailure(error, transport.trace, { failure, timedOutMs: timeout.aborted ? options.connectTimeoutMs : undefined }), transport.trace, { cause: error, failure });
  }
  return createConnection(client, transport, closed);
}

function createClient(options: ConnectOptions): Client {
  const changed = { autoRefresh: false, debounceMs: LIST_CHANGED_DEBOUNCE_MS, onChanged: () => options.onListChanged() };
  const client = new Client(options.clientInfo, {
    // No sampling or roots, and no elicitation but where it was asked for: a server that asks anyway is refused (security mcp-006).
    capabilities: options.onQuestion === undefined ? {} : { elicitation: { form: {}, url: {} } },
    // A call that wants an answer first is made again by whoever made it: only they know whose question it is.
    inputRequired: { autoFulfill: false },
    versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(5_000, Math.ceil(options.connectTimeoutMs / 3)) } },
    listChanged: { tools: changed, resources: changed, prompts: changed },
  });
  const { onQuestion, onNotice } = options;
  client.setNotificationHandler("notifications/message", ({ params: { level, logger, data } }) => onNotice({ kind: "log", level, ...(logger === undefined ? {} : { logger }), data }));
  client.setNotificationHandler("notifications/resources/updated", ({ params: { uri } }) => onNotice({ kind: "resource-updated", uri }));
  if (onQuestion !== undefined) client.setRequestHandler("elicitation/create", ({ params }, context) => onQuestion(params, context.mcpReq.signal));
  client.fallbackRequestHandler = (request) => Promise.reject(new Error(`Callgate does not answer ${request.method}: ask for what the tool needs in its arguments`));
  return client;
}

function createConnection(client: Client, transport: AnyTransport, closed: Promise<void>): Connection {
  const capabilities = client.getServerCapabilities() ?? {};
  const { promise: ended, resolve: end } = Promise.withResolvers<Ending>();
  closed.then(() => end({ kind: "gone", how: transport.trace.ended() ?? "it closed the connection" }), () => undefined);
  const close = async (): Promise<void> => {
    await transport.close();
    await client.close();
  };
  const retire = createRetirement(end, close);
  return {
    trace: transport.trace,
    era: client.getProtocolEra() ?? "legacy",
    instructions: client.getInstructions(),
    serverTitle: client.getServerVersion()?.title ?? client.getServerVersion()?.name,
    has: (capability) => capabilities[capability] !== undefined,
    request: (method, params, options) =>
      retire.during(async () => {
        try {
          return await client.request({ method, params }, bodySchema, { ...sendingOptions(options), ...(method === "tools/call" ? { allowInputRequired: true } : {}) });
        } catch (error) {
          const failure = "hasSession" in transport && !options.signal.aborted ? readHttpFailure(error, transport.hasSession()) : undefined;
          if (failure === undefined) throw error;
          retire.after(failure);
          throw new RequestLost(failure, error);
        }
      }),
    subscribe: (uri, signal) => subscribeTo(client, uri, signal),
    setLogLevel: async (level, signal) => {
      if (client.getProtocolEra() === "modern" || capabilities.logging === undefined) return;
      await client.request({ method: "logging/setLevel", params: { level } }, { signal });
    },
    ended,
    close,
  };
}

/** The newer era has one stream for what is listened to, the older a request that stands until it is taken back. */
async function subscribeTo(client: Client, uri: string, signal: AbortSignal): Promise<() => Promise<void>> {
  if (client.getProtocolEra() === "modern") {
    const stream = await client.listen({ resourceSubscriptions: [uri] }, { signal });
    return () => stream.close();
  }
  await client.subscribeResource({ uri }, { signal });
  return async () => void (await client.unsubscribeResource({ uri }));
}

/** A connection that is of no further use is closed once the last of its requests has ended: none of them is given up for another's failure. */
function createRetirement(end: (ending: Ending) => void, close: () => Promise<void>) {
  let underWay = 0;
  let isRetired = false;
  return {
    after: ({ kind, what }: HttpFailure): void => {
      // What the server refused, or failed at, says nothing of the connection.
      if (kind === "refused" || kind === "broken") return;
      isRetired = true;
      end(kind === "session" ? { kind } : { kind: kind === "sign_in" ? "sign_in" : "gone", how: what });
    },
    during: async <Value>(request: () => Promise<Value>): Promise<Value> => {
      underWay += 1;
      try {
        return await request();
      } finally {
        underWay -= 1;
        if (isRetired && underWay === 0) close().catch(() => undefined); // There is nobody on the other side to be told.
      }
    },
  };
}

function sendingOptions({ signal, timeoutMs, idleTimeoutMs, headers, onProgress }: RequestOptions) {
  return {
    signal,
    timeout: idleTimeoutMs ?? timeoutMs ?? NO_TIMEOUT_MS,
    ...(idleTimeoutMs === undefined ? {} : { resetTimeoutOnProgress: true }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
    ...(onProgress === undefined
      ? {}
      : { onprogress: (progress: { progress: number; total?: number | undefined; message?: string | undefined }) => onProgress({ progress: progress.progress, ...(progress.total === undefined ? {} : { total: progress.total }), ...(progress.message === undefined ? {} : { message: progress.message }) }) }),
  };
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** `timedOutMs` is the limit, where that is what was reached. */
function connectFailure(error: unknown, trace: ServerTrace, { failure, timedOutMs }: { readonly failure: HttpFailure | undefined; readonly timedOutMs: number | undefined }): string {
  if (timedOutMs !== undefined) return `did not finish the handshake within ${timedOutMs / 1000} s (raise connectTimeoutMs if it is only slow)`;
  if (failure !== undefined) return failure.what;
  const ended = trace.ended();
  if (ended !== undefined) return `could not be started: ${ended}`;
  return `failed the handshake: ${error instanceof Error ? error.message : String(error)}`;
}
