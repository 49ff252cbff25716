import { randomUUID } from "node:crypto";
import type { Principal } from "@callgate/contract";
import type { Server } from "@modelcontextprotocol/server";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

export interface SessionPoolOptions {
  readonly createServer: (principal: Principal | undefined) => Server;
  readonly maxBodyBytes: number;
  /** A session without a request for this long is forgotten; its client starts a new one. */
  readonly idleMs: number;
  /** Past this, the session that was idle longest is ended. */
  readonly maxSessions: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** The token it was begun with: no other goes on with it. */
  readonly ownerId: string;
  usedMs: number;
}

/** Who sends a request. */
export interface SessionOwner {
  readonly id: string;
  readonly principal: Principal | undefined;
}

/** Sessions of the older protocol era over HTTP. The newer era has none. */
export interface SessionPool {
  handle(request: Request, owner: SessionOwner | undefined): Promise<Response>;
  readonly size: number;
  close(): Promise<void>;
}

/** Keeps a server per session id; ids are random, so one cannot be guessed from another (security mcp-016). */
export function createSessionPool(options: SessionPoolOptions): SessionPool {
  const sessions = new Map<string, Session>();

  const end = async (id: string): Promise<void> => {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.server.close();
  };
  const makeRoom = async (): Promise<void> => {
    const byUse = [...sessions].sort(([, one], [, other]) => one.usedMs - other.usedMs);
    const idle = byUse.filter(([, session]) => options.now() - session.usedMs > options.idleMs);
    const surplus = byUse.slice(0, Math.max(0, sessions.size - options.maxSessions + 1));
    for (const [id] of new Set([...idle, ...surplus])) await end(id);
  };
  const begin = async (request: Request, owner: SessionOwner | undefined): Promise<Response> => {
    await makeRoom();
    const server = options.createServer(owner?.principal);
    let started = false;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: options.maxBodyBytes,
      onsessioninitialized: (id) => {
        started = true;
        sessions.set(id, { server, transport, ownerId: owner?.id ?? "", usedMs: options.now() });
      },
      onsessionclosed: (id) => end(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    // Anything but `initialize` was refused; nothing may stay behind.
    if (!started) await server.close();
    return response;
  };

  return {
    get size() {
      return sessions.size;
    },
    handle: async (request, owner) => {
      const id = request.headers.get("mcp-session-id");
      if (id === null) return request.method === "POST" ? begin(request, owner) : rpcError(400, "The Mcp-Session-Id header is missing");
      const session = sessions.get(id);
      // That of another client is none.
      if (session === undefined || session.ownerId !== (owner?.id ?? "")) return rpcError(404, "There is no such session; start a new one");
      session.usedMs = options.now();
      return session.transport.handleRequest(request);
    },
    close: async () => {
      await Promise.all([...sessions.keys()].map(end));
    },
  };
}

/** A refusal in the form MCP clients expect. */
function rpcError(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }, { status, headers });
}
