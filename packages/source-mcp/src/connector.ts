import type { SourceState } from "@callgate/contract";
import { CallgateError } from "@callgate/contract";
import { createBackoff } from "./backoff.ts";
import { connect, ConnectError, RequestLost } from "./connection.ts";
import type { BodyMethod, Connection, ConnectOptions, Ending, RequestOptions } from "./connection.ts";
import type { ResultBody } from "./result-body.ts";
import { describeFailure, hide } from "./server-failure.ts";
import type { ServerLabel } from "./server-failure.ts";
import type { ServerTrace } from "./server-trace.ts";

export interface ConnectorOptions {
  readonly label: ServerLabel;
  readonly now: () => number;
  /** State or lists may have changed. */
  readonly onChange: () => void;
  readonly onConnected: (connection: Connection) => void;
  readonly connect: Omit<ConnectOptions, "knownLegacy" | "onListChanged" | "signal">;
}

/** Keeps at most one living connection, made at need. */
export interface Connector {
  readonly namespace: string;
  /** The living connection, or a new one. Throws `CallgateError` SOURCE_FAILED; the reason of `signal` when that aborts. */
  get(signal: AbortSignal): Promise<Connection>;
  /**
   * Asks the living connection, or a new one; once more over a new one where the server had forgotten the session and so
   * did nothing. Errors: those of `get` before anything was sent, those of `Connection.request` after.
   */
  request(method: BodyMethod, params: Readonly<Record<string, unknown>>, options: RequestOptions): Promise<ResultBody>;
  state(): SourceState;
  purpose(): string | undefined;
  /** A text without the values that must not show. */
  hide(text: string): string;
  /** How the last connection ended, as a clause. */
  lastEnd(): string;
  /** Wraps an error of a request as SOURCE_FAILED, with what the server said last. */
  failure(what: string, cause: unknown): CallgateError;
  close(): Promise<void>;
}

/** What changes while a connector lives. */
interface Cell {
  state: SourceState;
  current: Promise<Connection> | undefined;
  /** Also after its death: for what it said last. */
  latest: Connection | undefined;
  knownLegacy: boolean;
  closed: boolean;
}

/** Connects at need, once for all who ask; restarts what died; waits longer each time while it keeps failing. */
export function createConnector(options: ConnectorOptions): Connector {
  const { label } = options;
  const cell: Cell = { state: { kind: "connecting" }, current: undefined, latest: undefined, knownLegacy: false, closed: false };
  const closing = new AbortController();
  const open = createOpener(options, cell, closing.signal);
  const get = async (signal: AbortSignal): Promise<Connection> => {
    signal.throwIfAborted();
    if (cell.closed) throw sourceFailed(label, "was closed");
    cell.current ??= open().catch((error: unknown) => {
      cell.current = undefined;
      throw error;
    });
    return await untilAborted(cell.current, signal);
  };
  return {
    namespace: label.namespace,
    state: () => healthOf(cell),
    purpose: () => firstSentence(cell.latest?.instructions) ?? cell.latest?.serverTitle,
    lastEnd: () => cell.latest?.trace.ended() ?? "it closed the connection",
    hide: (text) => hide(text, label),
    get,
    async request(method, params, requestOptions) {
      const connection = await get(requestOptions.signal);
      try {
        return await connection.request(method, params, requestOptions);
      } catch (error) {
        if (!(error instanceof RequestLost) || error.failure.kind !== "session") throw error;
        await connection.ended;
        return await (await get(requestOptions.signal)).request(method, params, requestOptions);
      }
    },
    failure: (what, cause) => sourceFailed(label, `${what} (${cause instanceof Error ? cause.message : String(cause)})`, { trace: cell.latest?.trace, cause }),
    close: async () => {
      if (cell.closed) return;
      cell.closed = true;
      closing.abort(new Error("The source was closed"));
      const connection = await cell.current?.catch(() => undefined);
      await connection?.close();
      cell.state = { kind: "down", reason: "closed" };
    },
  };
}

/** A server that is there and answers what nobody can read is not well. */
function healthOf({ state, latest }: Cell): SourceState {
  const { count, last } = latest?.trace.malformed() ?? { count: 0, last: undefined };
  return state.kind !== "ready" || count === 0 ? state : { kind: "degraded", reason: `${count} of its answers could not be read as JSON-RPC. The last: ${last ?? ""}` };
}

function createOpener({ label, now, onChange, onConnected, connect: connectOptions }: ConnectorOptions, cell: Cell, signal: AbortSignal): () => Promise<Connection> {
  const backoff = createBackoff(now);
  const setState = (next: SourceState): void => {
    cell.state = next;
    onChange();
  };
  const died = (ending: Ending): void => {
    cell.current = undefined;
    if (cell.closed) return;
    // The server lives and wants to be greeted anew.
    if (ending.kind === "session") return;
    backoff.died();
    const how = hide(ending.how, label);
    if (ending.kind === "sign_in") setState({ kind: "auth_needed", reason: how, retryAfterMs: backoff.waitMs() });
    else setState({ kind: "down", reason: `the server is gone: ${how}; it is reached again at the next use`, retryAfterMs: backoff.waitMs() });
  };
  return async () => {
    const waitMs = backoff.waitMs();
    if (waitMs > 0) {
      const reason = cell.state.kind === "down" ? ` (${cell.state.reason})` : "";
      throw sourceFailed(label, `is down and is tried again in ${Math.ceil(waitMs / 1000)} s at the earliest${reason}`, { trace: cell.latest?.trace });
    }
    setState({ kind: "connecting" });
    try {
      const connection = await connect({ ...connectOptions, knownLegacy: cell.knownLegacy, onListChanged: onChange, signal });
      backoff.started();
      cell.knownLegacy = connection.era === "legacy";
      cell.latest = connection;
      connection.ended.then(died, () => undefined);
      setState({ kind: "ready" });
      onConnected(connection);
      return connection;
    } catch (error) {
      backoff.failed();
      const what = hide(error instanceof ConnectError ? error.message : `could not be started: ${String(error)}`, label);
      const isSignIn = error instanceof ConnectError && error.failure?.kind === "sign_in";
      setState(isSignIn ? { kind: "auth_needed", reason: what, retryAfterMs: backoff.waitMs() } : { kind: "down", reason: what, brief: `it ${what}`, retryAfterMs: backoff.waitMs() });
      throw sourceFailed(label, what, { trace: error instanceof ConnectError ? error.trace : undefined, cause: error });
    }
  };
}

function sourceFailed(label: ServerLabel, what: string, more: { readonly trace?: ServerTrace | undefined; readonly cause?: unknown } = {}): CallgateError {
  const { brief, full } = describeFailure(label, what, more.trace);
  return new CallgateError("SOURCE_FAILED", full, { cause: more.cause, details: { namespace: label.namespace, brief } });
}

function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function firstSentence(text: string | undefined): string | undefined {
  const sentence = text === undefined ? undefined : /^\s*([^\n]*?[.!?](?=\s|$)|[^\n]+)/.exec(text.trim())?.[1];
  return sentence === undefined || sentence === "" ? undefined : sentence.replace(/^#+\s*/, "").slice(0, 160);
}
