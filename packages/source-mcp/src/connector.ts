import type { SourceState } from "@callgate/contract";
import { CallgateError } from "@callgate/contract";
import { connect, ConnectError } from "./connection.ts";
import type { Connection, ConnectOptions } from "./connection.ts";
import { describeFailure } from "./server-failure.ts";
import type { ServerLabel } from "./server-failure.ts";

export interface ConnectorOptions {
  readonly label: ServerLabel;
  readonly now: () => number;
  /** State or lists may have changed. */
  readonly onChange: () => void;
  readonly connect: Omit<ConnectOptions, "knownLegacy" | "onListChanged" | "signal">;
}

/** Keeps at most one living connection, made at need. */
export interface Connector {
  readonly namespace: string;
  /** The living connection, or a new one. Throws `CallgateError` SOURCE_FAILED; the reason of `signal` when that aborts. */
  get(signal: AbortSignal): Promise<Connection>;
  state(): SourceState;
  purpose(): string | undefined;
  /** Wraps an error of a request as SOURCE_FAILED, with what the server said last. */
  failure(what: string, cause: unknown): CallgateError;
  close(): Promise<void>;
}

/** First wait after a failed start; doubles to the maximum. A server that lived shorter than `STABLE_MS` has failed, too. */
const BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
const STABLE_MS = 5_000;

/** Connects at need, once for all who ask; restarts what died; waits longer each time while it keeps failing. */
export function createConnector(options: ConnectorOptions): Connector {
  const { label, now, onChange } = options;
  let state: SourceState = { kind: "connecting" };
  let current: Promise<Connection> | undefined;
  let latest: Connection | undefined;
  let knownLegacy = false;
  let failures = 0;
  let notBefore = -Infinity;
  let closed = false;
  const closing = new AbortController();

  const setState = (next: SourceState): void => {
    state = next;
    onChange();
  };
  const countFailure = (): void => {
    notBefore = now() + Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** failures);
    failures++;
  };
  const sourceFailed = (what: string, trace: ConnectError["trace"] | undefined, cause: unknown): CallgateError => {
    const { brief, full } = describeFailure(label, what, trace);
    return new CallgateError("SOURCE_FAILED", full, { cause, details: { namespace: label.namespace, brief } });
  };

  const open = async (): Promise<Connection> => {
    if (now() < notBefore) {
      const reason = state.kind === "down" ? state.reason : "is down";
      throw sourceFailed(`is down and is started again in ${Math.ceil((notBefore - now()) / 1000)} s at the earliest (${reason})`, latest?.trace, undefined);
    }
    setState({ kind: "connecting" });
    try {
      const connection = await connect({ ...options.connect, knownLegacy, onListChanged: onChange, signal: closing.signal });
      const since = now();
      knownLegacy = connection.era === "legacy";
      latest = connection;
      watch(connection, since);
      setState({ kind: "ready" });
      return connection;
    } catch (error) {
      current = undefined;
      countFailure();
      const what = error instanceof ConnectError ? error.message : `could not be started: ${String(error)}`;
      const failure = sourceFailed(what, error instanceof ConnectError ? error.trace : undefined, error);
      setState({ kind: "down", reason: what });
      throw failure;
    }
  };

  const watch = (connection: Connection, since: number): void => {
    const died = (): void => {
      current = undefined;
      if (closed) return;
      if (now() - since >= STABLE_MS) failures = 0;
      // The first death after a good start costs no wait: it is started again at the next use.
      if (failures > 0) countFailure();
      else failures = 1;
      setState({ kind: "down", reason: `the server is gone: ${connection.trace.ended() ?? "it closed the connection"}; it is started again at the next use` });
    };
    connection.closed.then(died, died);
  };

  return {
    namespace: label.namespace,
    state: () => state,
    purpose: () => firstSentence(latest?.instructions) ?? latest?.serverTitle,
    get: async (signal) => {
      signal.throwIfAborted();
      if (closed) throw sourceFailed("was closed", undefined, undefined);
      current ??= open().catch((error: unknown) => {
        current = undefined;
        throw error;
      });
      return untilAborted(current, signal);
    },
    failure: (what, cause) => sourceFailed(`${what} (${cause instanceof Error ? cause.message : String(cause)})`, latest?.trace, cause),
    close: async () => {
      if (closed) return;
      closed = true;
      closing.abort(new Error("The source was closed"));
      const connection = await current?.catch(() => undefined);
      await connection?.close();
      state = { kind: "down", reason: "closed" };
    },
  };
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
