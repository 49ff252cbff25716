import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { createLineSplitter } from "./line-splitter.ts";
import type { Line } from "./line-splitter.ts";
import { parseLosslessJson, writeLosslessJson } from "./lossless-json.ts";
import { carriesBody, wrapBody } from "./result-body.ts";
import { startServerProcess } from "./server-process.ts";
import type { ServerProcess, ServerProcessOptions } from "./server-process.ts";
import { createTailBuffer } from "./tail-buffer.ts";

export interface StdioTransportOptions extends ServerProcessOptions {
  /** Longest message taken from the server. */
  readonly maxMessageBytes: number;
}

/** What is known about a server beyond its messages; for error texts. */
export interface ServerTrace {
  /** Last lines it wrote to stderr. */
  stderr(count: number): readonly string[];
  /** Lines on stdout that were no JSON-RPC message, and the first of them. */
  garbage(): { readonly count: number; readonly first: string | undefined };
  /** How the process ended; undefined while it lives. */
  ended(): string | undefined;
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
    trace: { stderr: (count) => stderr.lines(count), garbage: reader.garbage, ended: () => ended },
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

interface MessageReader {
  /** Notes a request of ours, whose answer may have to be carried past the SDK's schemas. */
  expect(message: JSONRPCMessage): void;
  push(chunk: Uint8Array): readonly JSONRPCMessage[];
  readonly garbage: ServerTrace["garbage"];
}

function createMessageReader(maxMessageBytes: number): MessageReader {
  const splitter = createLineSplitter(maxMessageBytes);
  /** Methods of our requests under way, by id. */
  const methods = new Map<unknown, string>();
  let count = 0;
  let first: string | undefined;
  const read = (line: Line): readonly JSONRPCMessage[] => {
    const message = line.kind === "line" ? parseMessage(line.text) : oversizedAnswer(line, maxMessageBytes);
    if (message === undefined) {
      count++;
      first ??= (line.kind === "line" ? line.text : line.head).slice(0, 120);
      return [];
    }
    const { id, result } = message as { id?: unknown; result?: unknown };
    const method = "method" in message ? undefined : methods.get(id);
    if (method === undefined) return [message];
    methods.delete(id);
    return [result === undefined ? message : ({ ...message, result: wrapBody(method, result) } as JSONRPCMessage)];
  };
  return {
    expect: (message) => {
      if ("method" in message && "id" in message && carriesBody(message.method)) methods.set(message.id, message.method);
    },
    push: (chunk) => splitter.push(chunk).flatMap(read),
    garbage: () => ({ count, first }),
  };
}

function parseMessage(text: string): JSONRPCMessage | undefined {
  try {
    const value = parseLosslessJson(text);
    const isMessage = typeof value === "object" && value !== null && (value as { jsonrpc?: unknown }).jsonrpc === "2.0";
    return isMessage ? (value as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** Turns an answer that was too long to keep into an error for the one request it answers, found by the id at either end. */
function oversizedAnswer(line: Extract<Line, { kind: "oversized" }>, maxBytes: number): JSONRPCMessage | undefined {
  const id = /^\{"jsonrpc":\s?"2\.0",\s?"id":\s?(\d{1,15}),/.exec(line.head)?.[1] ?? /[^\\]"jsonrpc":"2\.0","id":(\d{1,15})\}\s*$/.exec(line.tail)?.[1];
  if (id === undefined) return undefined;
  return { jsonrpc: "2.0", id: Number(id), error: { code: oversizedCode, message: `The answer is ${line.sizeBytes} bytes, more than the ${maxBytes} that are taken` } };
}

/** Our own JSON-RPC error code for an answer over the bound. */
export const oversizedCode = -32_091;
