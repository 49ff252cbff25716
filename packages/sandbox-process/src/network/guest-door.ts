import { chmodSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { GuestConnection } from "@callgate/contract";
import { parseTarget } from "@callgate/http-client/network";
import type { Target } from "@callgate/http-client/network";
import { makeTempFolder } from "../launcher/temp-folder.ts";
import { createDoorRecord, maxOpen } from "./door-record.ts";
import { forwardRequest } from "./forward-request.ts";
import type { DenyRule, NetworkPolicy } from "./network-policy.ts";
import { tunnel } from "./tunnel.ts";
import type { Way } from "./way.ts";

/** The one way out of a guest: an HTTP proxy of its own, on a socket that only it is given. */
export interface GuestDoor {
  /** Path of the unix socket on this host, alone in its folder, which is this user's. */
  readonly socket: string;
  /** Told of every connection: a refused one at once, an allowed one when it ends. What came before is told then. */
  listen(hear: (connection: GuestConnection) => void): void;
  /** Ends every connection. Resolves when all are told and nothing of the door is left. */
  close(): Promise<void>;
}

/** Opens the door of one guest. Throws when the socket cannot be made. */
export function openGuestDoor(policy: NetworkPolicy): GuestDoor {
  const folder = makeTempFolder("callgate-door-");
  const socket = join(folder, "door");
  const record = createDoorRecord();
  const way: Way = { policy, record };
  const sockets = new Set<Duplex>();
  const server = createServer({ keepAliveTimeout: 5_000, headersTimeout: 20_000, requestTimeout: 0 });
  server.maxConnections = maxOpen;
  server.on("connection", (opened: Socket) => {
    sockets.add(opened);
    opened.on("error", () => undefined);
    opened.once("close", () => sockets.delete(opened));
  });
  server.on("request", (request, response) => void answerRequest(way, request, response).catch(() => response.destroy()));
  server.on("connect", (request, guest, first) => void answerConnect(way, request, { guest, first }).catch(() => guest.destroy()));
  server.on("upgrade", (_request, guest) => refuse(guest, 501, "an upgrade needs a tunnel: use CONNECT"));
  server.on("clientError", (_error, guest) => refuse(guest, 400, "the request is not HTTP that reads one way"));
  server.on("error", () => undefined);
  // Node binds a path before it returns. To connect takes the right to write; the folder keeps everyone else out.
  server.listen(socket);
  chmodSync(socket, 0o666);

  return {
    socket,
    listen: (hear) => record.listen(hear),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const open of sockets) open.destroy();
      await Promise.all([closed, record.settled()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answerConnect(way: Way, request: IncomingMessage, { guest, first }: { readonly guest: Duplex; readonly first: Buffer }): Promise<void> {
  guest.on("error", () => undefined);
  const target = parseTarget(request.url ?? "");
  if (target === undefined) return refuse(guest, 400, malformed(way, request.url));
  const refusal = await tunnel(way, target, { guest, first });
  if (refusal !== undefined) refuse(guest, refusal.status, refusal.message);
}

async function answerRequest(way: Way, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = parseRequestTarget(request.url ?? "");
  const refusal = asked === undefined ? { status: 400, message: malformed(way, request.url) } : await forwardRequest(way, asked, { request, response });
  if (refusal === undefined || response.headersSent) return;
  request.resume();
  response.writeHead(refusal.status, reason(refusal.message), { "content-type": "text/plain; charset=utf-8", "connection": "close" });
  response.end(`${refusal.message}\n`);
}

/** Scheme, authority and the rest of `GET http://host/path`; what a second reader could cut elsewhere is refused. */
function parseRequestTarget(text: string): { readonly target: Target; readonly path: string } | undefined {
  const [, authority = "", rest = ""] = /^http:\/\/([^/?#\\@]+)([/?][\x21-\x7e]*)?$/i.exec(text) ?? [];
  const target = rest.includes("#") || rest.includes("\\") ? undefined : parseTarget(authority, 80);
  return target && { target, path: rest.startsWith("/") ? rest : `/${rest}` };
}

function malformed({ record }: Way, text = ""): string {
  record.deny({ host: text.slice(0, 253), port: 0 }, "malformed" satisfies DenyRule);
  return "the target is not host:port (CONNECT) or http://host/path, or could be read in more than one way";
}

/** Clients of tunnels show the reason phrase and drop the body, so what happened and what to do stand in both. */
function refuse(guest: Duplex, status: number, message: string): void {
  if (!guest.writable) return void guest.destroy();
  guest.end(`HTTP/1.1 ${status} ${reason(message)}\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(message) + 1}\r\n\r\n${message}\n`);
}

function reason(message: string): string {
  return `Callgate: ${message}`.replace(/[^\x20-\x7e]/g, "?").slice(0, 500);
}
