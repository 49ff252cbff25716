import { randomUUID } from "node:crypto";
import type { Server } from "@modelcontextprotocol/server";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

export interface SessionPoolOptions {
  readonly createServer: () => Server;
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
  usedMs: number;
}

/** Sessions of the older protocol era over HTTP. The newer era has none. */
export interface SessionPool {
  handle(request: Request): Promise<Response>;
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
  const begin = async (request: Request): Promise<Response> => {
    await makeRoom();
    const server = options.createServer();
    let started = false;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: options.maxBodyBytes,
      onsessioninitialized: (id) => {
        started = true;
        sessions.set(id, { server, transport, usedMs: options.now() });
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
    handle: async (request) => {
      const id = request.headers.get("mcp-session-id");
      if (id === null) return request.method === "POST" ? begin(request) : rpcError(400, "The Mcp-Session-Id header is missing");
      const session = sessions.get(id);
      if (session === undefined) return rpcError(404, "There is no such session; start a new one");
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
