import { writeLosslessJson } from "@callgate/contract";
import type { Transport } from "@modelcontextprotocol/client";
import { createMessageReader } from "./message-reader.ts";
import type { ServerTrace } from "./server-trace.ts";
import { startServerProcess } from "./server-process.ts";
import type { ServerProcess, ServerProcessOptions } from "./server-process.ts";
import { createTailBuffer } from "./tail-buffer.ts";

export interface StdioTransportOptions extends ServerProcessOptions {
  readonly kind: "stdio";
  /** Longest message taken from the server. */
  readonly maxMessageBytes: number;
}

export interface StdioTransport extends Transport {
  readonly trace: ServerTrace;
}

/** Stderr kept per server. */
const STDERR_BYTES = 16 * 1024;

/**
 * JSON-RPC over the stdio of a process we start.
 *
 * Instead of the SDK's own stdio transport because that one rounds large numbers, is quadratic in the size of a
 * message, and leaves grandchildren behind. `pid` and `stderr` are what the SDK recognises a stdio transport by.
 */
export function createStdioTransport(options: StdioTransportOptions): StdioTransport & { readonly pid: number | null; readonly stderr: null } {
  let server: ServerProcess | undefined;
  let ended: string | undefined;
  const stderr = createTailBuffer(STDERR_BYTES);
  const reader = createMessageReader(options.maxMessageBytes);

  const transport: StdioTransport & { pid: number | null; readonly stderr: null } = {
    pid: null,
    stderr: null,
    trace: { stderr: (count) => stderr.lines(count), garbage: reader.garbage, malformed: reader.malformed, ended: () => ended },
    start: () => {
      const started = startServerProcess(options);
      server = started;
      transport.pid = started.child.pid ?? null;
      started.child.stdout?.on("data", (chunk: Buffer) => {
        for (const message of reader.push(chunk)) transport.onmessage?.(message);
      });
      started.child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
      // A server that is gone breaks the pipe; its end is told below.
      started.child.stdin?.on("error", () => undefined);
      const known = started.exited.then((how) => {
        ended = how;
      });
      Promise.all([known, outputEnded(started)])
        .then(() => {
          transport.onclose?.();
          return started.stop();
        })
        .catch((error: unknown) => transport.onerror?.(error as Error));
      return started.spawned;
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        reader.expect(message);
        const stdin = server?.child.stdin;
        if (stdin === undefined || stdin === null || !stdin.writable) {
          reject(new Error("The server's input is closed"));
          return;
        }
        stdin.write(`${writeLosslessJson(message)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    close: async () => {
      await server?.stop();
    },
  };
  return transport;
}

/**
 * Resolves after all output was read: what a server wrote last comes before the news of its end. A grandchild that
 * holds the pipes would keep them open for ever, hence the time limit.
 */
function outputEnded(server: ServerProcess): Promise<void> {
  return new Promise((resolve) => {
    server.child.once("close", () => resolve());
    server.exited.then(() => setTimeout(resolve, 500).unref(), resolve);
  });
}
