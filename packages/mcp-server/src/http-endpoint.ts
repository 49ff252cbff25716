import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CallgateError } from "@callgate/contract";
import type { Principal } from "@callgate/contract";
import { hostHeaderValidation, originValidation, toNodeHandler } from "@modelcontextprotocol/node";
import type { McpHttpHandler, Server } from "@modelcontextprotocol/server";
import { isLegacyRequest } from "@modelcontextprotocol/server";
import { ANSWERS_PATH, serveAnswer } from "./answers-endpoint.ts";
import type { AnswersPage } from "./answers-endpoint.ts";
import { createBearerTokens } from "./bearer-tokens.ts";
import type { BearerTokens, HttpClient } from "./bearer-tokens.ts";
import { createSessionPool } from "./session-pool.ts";

export interface HttpOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** Loopback address to listen on. Default `127.0.0.1`. */
  readonly host?: "127.0.0.1" | "::1";
  /** What clients must send as `Authorization: Bearer <token>`; at least 16 characters. Default: a new random one. */
  readonly token?: string;
  /** Clients with a token of their own, and on whose behalf each acts. Whoever sends `token` acts as the server's principal. */
  readonly clients?: readonly HttpClient[];
  /** What `/metrics` answers, and to whom. Default: nothing is there. */
  readonly metrics?: MetricsPage;
  /** What takes answers at `/answers`, each proven by its own signature. Default: nothing is there. */
  readonly answers?: AnswersPage;
  /** Host names, without ports, that a request may name as its target. Default: the names of the loopback. */
  readonly allowedHosts?: readonly string[];
  /** Host names of web pages that may send requests. Default: the names of the loopback. */
  readonly allowedOrigins?: readonly string[];
  /** Longest request body. Default 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Older clients' sessions end after this long without a request. Default 4 hours. */
  readonly sessionIdleMs?: number;
  /** Sessions of older clients at once. Default 200. */
  readonly maxSessions?: number;
  /** How long a client may take to send the head of a request; then it gets 408 and its connection is closed. Default 10,000. */
  readonly headMs?: number;
  /** The same for a whole request, its body included. An answer may take as long as it takes. Default 60,000. */
  readonly requestMs?: number;
  /** Connections at once, whoever made them; further ones are closed. Default 500. */
  readonly maxConnections?: number;
}

/** Numbers about all clients, in a text that a monitoring system reads. */
export interface MetricsPage {
  /**
   * SHA-256 of the one token that opens it, 64 hex digits. It opens nothing else, and no other opens it: the page tells of
   * every tool and every principal, and not every client may know of those.
   */
  readonly tokenSha256: string;
  readonly contentType: string;
  text(): Promise<string>;
}

/** A listening endpoint. */
export interface HttpEndpoint {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  close(): Promise<void>;
}

export interface HttpEndpointParts {
  /** Serves the newer protocol era. */
  readonly modern: McpHttpHandler;
  /** A server for one session of the older era. */
  readonly createLegacyServer: (principal: Principal | undefined) => Server;
  readonly onFault: (error: unknown) => void;
}

const PATH = "/mcp";
const METRICS_PATH = "/metrics";
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Listens on the loopback. A request must, in this order, name an allowed host (a web page that rebinds its DNS name to
 * 127.0.0.1 cannot), come from an allowed origin if it says one, and carry the token; only then is its body read.
 *
 * Throws `CallgateError` USAGE for a token that is too short or a port that is taken.
 */
export async function openHttpEndpoint(options: HttpOptions, parts: HttpEndpointParts): Promise<HttpEndpoint> {
  const { host = "127.0.0.1", port = 0, maxBodyBytes = 4 * 1024 * 1024, allowedHosts = LOOPBACK_NAMES, allowedOrigins = LOOPBACK_NAMES } = options;
  const token = options.token ?? randomBytes(24).toString("base64url");
  if (token.length < 16) throw new CallgateError("USAGE", "The token of the MCP endpoint must have at least 16 characters");
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new CallgateError("USAGE", `The MCP endpoint cannot listen on port ${port}: ports go from 0, any free one, to 65535`);
  const { metrics, answers, clients = [] } = options;
  const tokens = createBearerTokens({ token, clients, ...(metrics === undefined ? {} : { metricsTokenSha256: metrics.tokenSha256 }) });
  const sessions = createSessionPool({
    createServer: parts.createLegacyServer,
    maxBodyBytes,
    idleMs: options.sessionIdleMs ?? 4 * 60 * 60 * 1000,
    maxSessions: options.maxSessions ?? 200,
    now: () => performance.now(),
  });
  const serve = toNodeHandler(
    {
      fetch: async (request) => {
        const known = tokens.find(request.headers.get("authorization") ?? "");
        if (await isLegacyRequest(request, undefined, { maxRequestBodySize: maxBodyBytes })) return await sessions.handle(request, known);
        return await parts.modern.fetch(request, known?.principal === undefined ? {} : { authInfo: { token: "", clientId: known.id, scopes: [], extra: { principal: known.principal } } });
      },
    },
    { maxRequestBodySize: maxBodyBytes, onerror: parts.onFault },
  );
  const ownPage = [hostHeaderValidation([...allowedHosts]), originValidation([...allowedOrigins])];
  const guards = [...ownPage, pathGuard, tokenGuard(tokens, "endpoint"), methodGuard(METHODS)];
  const metricsGuards = [...ownPage, tokenGuard(tokens, "metrics"), methodGuard(["GET"])];
  // Who dribbles needs no token for that: a connection that has not sent its request in time is closed.
  const { headMs = 10_000, requestMs = 60_000 } = options;
  const http = createServer({ headersTimeout: headMs, requestTimeout: requestMs, connectionsCheckingInterval: Math.min(headMs, 2_000) }, (request, response) => {
    if (metrics !== undefined && pathOf(request) === METRICS_PATH) {
      if (metricsGuards.every((guard) => guard(request, response))) answerMetrics(metrics, response).catch(parts.onFault);
      return;
    }
    // A service comes through a proxy with a name of its own, and without a token: its signature is over what it says.
    if (answers !== undefined && pathOf(request) === ANSWERS_PATH) {
      serveAnswer(answers, request, response).catch(parts.onFault);
      return;
    }
    if (!guards.every((guard) => guard(request, response))) return;
    // The adapter's own type forbids an `undefined` method and url, which Node's type allows and a server never sees.
    serve(request as IncomingMessage & { method: string; url: string }, response).catch(parts.onFault);
  });
  http.maxConnections = options.maxConnections ?? 500;
  const bound = await listen(http, { port, host });
  return {
    url: `http://${host === "::1" ? "[::1]" : host}:${bound}${PATH}`,
    port: bound,
    token,
    close: async () => {
      await sessions.close();
      await new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      });
    },
  };
}

/** The port it got. */
async function listen(http: HttpServer, { port, host }: { readonly port: number; readonly host: string }): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    http.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE" ? `port ${port} is taken; choose another or leave it out` : error.message;
      reject(new CallgateError("USAGE", `The MCP endpoint cannot listen on ${host}: ${taken}`, { cause: error }));
    });
    http.listen(port, host, resolve);
  });
  return (http.address() as AddressInfo).port;
}

type Guard = (request: IncomingMessage, response: ServerResponse) => boolean;

/** What the protocol has on its endpoint. */
const METHODS = ["GET", "POST", "DELETE"];

function methodGuard(methods: readonly string[]): Guard {
  return (request, response) => {
    if (methods.includes(request.method ?? "")) return true;
    response.setHeader("Allow", methods.join(", "));
    refuse(response, 405, `${pathOf(request) === PATH ? "The MCP endpoint" : METRICS_PATH} takes ${methods.join(", ")}`);
    return false;
  };
}

function pathOf(request: IncomingMessage): string | undefined {
  return request.url?.split("?", 1)[0];
}

const pathGuard: Guard = (request, response) => {
  if (pathOf(request) === PATH) return true;
  refuse(response, 404, `Nothing is here; the MCP endpoint is ${PATH}`);
  return false;
};

function tokenGuard(tokens: BearerTokens, opens: "endpoint" | "metrics"): Guard {
  const which = opens === "endpoint" ? "the token that was printed at the start" : "the token of the metrics";
  return (request, response) => {
    if (tokens.find(request.headers.authorization ?? "")?.opens === opens) return true;
    response.setHeader("WWW-Authenticate", 'Bearer realm="callgate"');
    refuse(response, 401, `Send ${which} as \`Authorization: Bearer <token>\``);
    return false;
  };
}

async function answerMetrics(metrics: MetricsPage, response: ServerResponse): Promise<void> {
  try {
    const text = await metrics.text();
    response.writeHead(200, { "content-type": metrics.contentType, "cache-control": "no-store" });
    response.end(text);
  } catch (fault) {
    refuse(response, 500, "The metrics could not be read");
    throw fault;
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }));
}
