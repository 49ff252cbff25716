import { timingSafeEqual } from "node:crypto";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { CallgateError } from "@callgate/contract";
import type { Principal } from "@callgate/contract";
import type { McpGateServer } from "@callgate/mcp-server";
import { helloShape } from "./daemon-messages.ts";
import type { Hello, HelloAnswer } from "./daemon-messages.ts";
import type { DaemonRecord } from "./daemon-records.ts";
import { firstLine } from "./first-line.ts";

export interface DaemonOptions {
  readonly record: DaemonRecord;
  readonly server: Pick<McpGateServer, "serveStdio">;
  /** Who a client acts for. Throws `CallgateError` for a profile that is not there. */
  readonly principalOf: (said: Extract<Hello, { kind: "serve" }>) => Principal;
  readonly onFault: (error: unknown) => void;
}

/** The process that clients share, while it listens. */
export interface Daemon {
  /** Resolves when it was told to stop, or has had no client for as long as it waits. */
  readonly ended: Promise<"stopped" | "idle">;
  close(): Promise<void>;
}

const helloWithinMs = 10_000;

/**
 * Serves MCP clients of this user over a socket that only they reach: each connection is a client of its own, as over its
 * standard input and output. Nobody is answered before they have shown the token of the record.
 *
 * Errors: those of the socket.
 */
export async function serveDaemon(options: DaemonOptions): Promise<Daemon> {
  const { record } = options;
  const { promise: ended, resolve: end } = Promise.withResolvers<"stopped" | "idle">();
  const connections = new Set<Socket>();
  const clients = new Set<Socket>();
  let idle: NodeJS.Timeout | undefined;
  const rest = (): void => {
    clearTimeout(idle);
    if (clients.size === 0) idle = setTimeout(() => end("idle"), record.idleMs);
  };
  const take = async (socket: Socket): Promise<void> => {
    const hello = readHello(await firstLine(socket, helloWithinMs), record.token);
    if (hello.kind === "stop") end("stopped");
    if (hello.kind !== "serve") return bye(socket, { kind: "ok", clients: clients.size });
    const principal = options.principalOf(hello);
    clients.add(socket);
    clearTimeout(idle);
    socket.once("close", () => {
      clients.delete(socket);
      rest();
    });
    socket.write(lineOf({ kind: "ok", clients: clients.size }));
    const endpoint = options.server.serveStdio({ stdin: socket, stdout: socket, principal });
    await endpoint.closed;
    await endpoint.close();
    socket.end();
  };
  const listener = createServer({ allowHalfOpen: true }, (socket) => {
    // A client that has gone is no fault of ours.
    socket.on("error", () => undefined);
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
    take(socket).catch((fault: unknown) => {
      if (CallgateError.is(fault)) bye(socket, { kind: "refused", code: fault.code, message: fault.message });
      else {
        socket.destroy();
        options.onFault(fault);
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(record.socket, resolve);
  });
  rest();
  return {
    ended,
    close: async () => {
      clearTimeout(idle);
      for (const socket of connections) socket.destroy();
      await new Promise<void>((resolve) => {
        listener.close(() => resolve());
      });
    },
  };
}

/** Throws `CallgateError` USAGE for what is no first line of ours, or does not know the token. */
function readHello(line: string, token: string): Hello {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {} // Refused below.
  const hello = helloShape.safeParse(value).data;
  if (hello === undefined || !isSame(hello.token, token)) throw new CallgateError("USAGE", "This connection is for the commands of the user who started the process");
  return hello;
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Nothing more is read of it, so its end would not be seen. */
function bye(socket: Socket, answer: HelloAnswer): void {
  socket.end(lineOf(answer), () => socket.destroy());
}

function lineOf(answer: HelloAnswer): string {
  return `${JSON.stringify(answer)}\n`;
}
