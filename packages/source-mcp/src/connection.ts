import { Client, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { bodySchema } from "./result-body.ts";
import type { ResultBody } from "./result-body.ts";
import { createStdioTransport } from "./stdio-transport.ts";
import type { ServerTrace, StdioTransport, StdioTransportOptions } from "./stdio-transport.ts";

export interface RequestOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: { readonly progress: number; readonly total?: number; readonly message?: string }) => void;
}

/** One living server process with which the protocol was agreed. */
export interface Connection {
  readonly trace: ServerTrace;
  /** `modern` is revision 2026-07-28 and later, `legacy` the `initialize` handshake before it. */
  readonly era: "modern" | "legacy";
  readonly instructions: string | undefined;
  readonly serverTitle: string | undefined;
  has(capability: "tools" | "resources" | "prompts"): boolean;
  request(method: BodyMethod, params: Readonly<Record<string, unknown>>, options: RequestOptions): Promise<ResultBody>;
  /** Resolves when the process is gone, for whatever reason. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export type BodyMethod = "tools/list" | "tools/call" | "resources/list" | "resources/templates/list" | "resources/read" | "prompts/list" | "prompts/get";

export interface ConnectOptions {
  readonly transport: StdioTransportOptions;
  readonly connectTimeoutMs: number;
  /** Skips the probe for the newer revision. */
  readonly knownLegacy: boolean;
  /** Lists may have changed; calls that come in a burst are already one. */
  readonly onListChanged: () => void;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Gives up connecting. */
  readonly signal: AbortSignal;
}

/** Why no connection came about. `what` is a clause for `describeFailure`. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
  readonly trace: ServerTrace;

  constructor(what: string, trace: ServerTrace, cause?: unknown) {
    super(what, { cause });
    this.trace = trace;
  }
}

/** Burst of `list_changed` notifications that counts as one. */
const LIST_CHANGED_DEBOUNCE_MS = 200;
/** Longest delay a timer takes; the caller's signal is what ends a call. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Starts the server and agrees on a protocol revision: the newest first, then the `initialize` handshake. A server that
 * dies of the unknown first question is started once more and asked the old way.
 *
 * Throws `ConnectError`; then the process is gone.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  try {
    return await connectOnce(options, options.knownLegacy);
  } catch (error) {
    const diedOfProbe = !options.knownLegacy && error instanceof ConnectError && error.cause instanceof SdkError && error.cause.code === SdkErrorCode.EraNegotiationFailed;
    if (!diedOfProbe) throw error;
    return connectOnce(options, true);
  }
}

async function connectOnce(options: ConnectOptions, legacy: boolean): Promise<Connection> {
  const transport = createStdioTransport(options.transport);
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  transport.onclose = onClosed;
  const client = createClient(options);
  const timeout = AbortSignal.timeout(options.connectTimeoutMs);
  const signal = AbortSignal.any([timeout, options.signal]);
  try {
    await Promise.race([
      client.connect(transport, { timeout: options.connectTimeoutMs, signal, ...(legacy ? { prior: { kind: "legacy" as const } } : {}) }),
      rejectOn(signal),
    ]);
  } catch (error) {
    await transport.close();
    throw new ConnectError(connectFailure(error, transport.trace, timeout.aborted ? options.connectTimeoutMs : undefined), transport.trace, error);
  }
  return createConnection(client, transport, closed);
}

function createClient(options: ConnectOptions): Client {
  const changed = { autoRefresh: false, debounceMs: LIST_CHANGED_DEBOUNCE_MS, onChanged: () => options.onListChanged() };
  const client = new Client(options.clientInfo, {
    // No sampling, elicitation or roots: a server that asks anyway is refused (security mcp-006).
    capabilities: {},
    inputRequired: { autoFulfill: false },
    versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(5_000, Math.ceil(options.connectTimeoutMs / 3)) } },
    listChanged: { tools: changed, resources: changed, prompts: changed },
  });
  client.fallbackRequestHandler = (request) => Promise.reject(new Error(`Callgate does not answer ${request.method}: ask for what the tool needs in its arguments`));
  return client;
}

function createConnection(client: Client, transport: StdioTransport, closed: Promise<void>): Connection {
  const capabilities = client.getServerCapabilities() ?? {};
  return {
    trace: transport.trace,
    era: client.getProtocolEra() ?? "legacy",
    instructions: client.getInstructions(),
    serverTitle: client.getServerVersion()?.title ?? client.getServerVersion()?.name,
    has: (capability) => capabilities[capability] !== undefined,
    request: (method, params, { signal, timeoutMs, onProgress }) =>
      client.request({ method, params }, bodySchema, {
        signal,
        timeout: timeoutMs ?? NO_TIMEOUT_MS,
        ...(onProgress === undefined ? {} : { onprogress: (progress) => onProgress({ progress: progress.progress, ...(progress.total === undefined ? {} : { total: progress.total }), ...(progress.message === undefined ? {} : { message: progress.message }) }) }),
      }),
    closed,
    close: async () => {
      await transport.close();
      await client.close();
    },
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
function connectFailure(error: unknown, trace: ServerTrace, timedOutMs: number | undefined): string {
  if (timedOutMs !== undefined) return `did not finish the handshake within ${timedOutMs / 1000} s (raise connectTimeoutMs if it is only slow)`;
  const ended = trace.ended();
  if (ended !== undefined) return `could not be started: ${ended}`;
  return `failed the handshake: ${error instanceof Error ? error.message : String(error)}`;
}
