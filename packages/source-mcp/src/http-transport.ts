import { SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { AuthProvider, FetchLike, JSONRPCMessage, OAuthClientProvider, Transport } from "@modelcontextprotocol/client";
import { createCarriedBodies } from "./carried-bodies.ts";
import { createMessageReader } from "./message-reader.ts";
import { withRawNumbers } from "./raw-numbers.ts";
import { relayedFetch } from "./relayed-fetch.ts";
import type { ServerTrace } from "./server-trace.ts";

export interface HttpTransportOptions {
  readonly kind: "http";
  readonly url: URL;
  /** `sse` is the transport of revision 2024-11-05: one stream of events down, posts up. */
  readonly flavor: "streamable" | "sse";
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: FetchLike;
  readonly auth?: AuthProvider | OAuthClientProvider;
  /** Longest message taken from the server. */
  readonly maxMessageBytes: number;
}

export interface HttpTransport extends Transport {
  readonly trace: ServerTrace;
  /** Whether the server keeps a session for this connection. */
  hasSession(): boolean;
}

/**
 * JSON-RPC over HTTP, by the SDK's transports with our reading of messages between them and the network.
 *
 * It closes by itself when nothing more can come: the one stream of the older transport has ended, or a broken one could
 * not be taken up again.
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { url, headers, flavor, maxMessageBytes } = options;
  const reader = createMessageReader(maxMessageBytes);
  const bodies = createCarriedBodies();
  let ended: string | undefined;
  const fetch = relayedFetch({
    fetch: options.fetch,
    reader,
    bodies,
    maxMessageBytes,
    onStreamEnd: () => {
      if (flavor === "sse") giveUp("its stream of events ended");
    },
  });
  const given = { fetch, requestInit: { headers: { ...headers } }, ...(options.auth === undefined ? {} : { authProvider: options.auth }) };
  const inner = flavor === "sse" ? new SSEClientTransport(url, given) : new StreamableHTTPClientTransport(url, given);

  function giveUp(how: string): void {
    if (ended !== undefined) return;
    ended = how;
    inner.close().catch((error: unknown) => transport.onerror?.(error as Error));
  }

  inner.onmessage = (message: JSONRPCMessage): void => {
    // What was answered beside our reader, by an error of HTTP, waits no longer.
    if (!("method" in message) && typeof message.id === "number") reader.forget(message.id);
    transport.onmessage?.(bodies.take(message));
  };
  inner.onerror = (error: Error): void => {
    transport.onerror?.(error);
    if (error.message.startsWith("Maximum reconnection attempts")) giveUp("a broken connection could not be taken up again");
  };
  const transport: HttpTransport = {
    trace: { stderr: () => [], garbage: reader.garbage, malformed: reader.malformed, ended: () => ended },
    hasSession: () => inner instanceof StreamableHTTPClientTransport && inner.sessionId !== undefined,
    get sessionId() {
      return inner instanceof StreamableHTTPClientTransport ? inner.sessionId : undefined;
    },
    ...(inner instanceof StreamableHTTPClientTransport ? { hasPerRequestStream: inner.hasPerRequestStream } : {}),
    setProtocolVersion: (version: string) => inner.setProtocolVersion(version),
    start: async () => {
      inner.onclose = () => transport.onclose?.();
      await inner.start();
    },
    send: async (message, sending) => {
      reader.expect(message);
      const written = withRawNumbers(message) as JSONRPCMessage;
      // What is absent is undefined there: the SDK's own types differ in that alone.
      await (inner instanceof StreamableHTTPClientTransport ? inner.send(written, sending as Parameters<typeof inner.send>[1]) : inner.send(written));
    },
    close: async () => {
      ended ??= "it was closed here";
      // The server need not keep what nobody comes back to. One that is gone is not waited for.
      if (inner instanceof StreamableHTTPClientTransport && inner.sessionId !== undefined) await Promise.race([inner.terminateSession().catch(() => undefined), later(1_000)]);
      await inner.close();
    },
  };
  return transport;
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
