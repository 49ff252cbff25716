import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { Gate, Principal } from "@callgate/contract";
import type { ProtocolEra, Server } from "@modelcontextprotocol/server";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { createClientAsker } from "./client-asker.ts";
import type { ClientAsker } from "./client-asker.ts";
import { createStateCodec } from "./client-questions.ts";
import { createGateServer } from "./gate-server.ts";
import { openHttpEndpoint } from "./http-endpoint.ts";
import type { HttpEndpoint, HttpOptions } from "./http-endpoint.ts";
import { createNoticeBoard } from "./notice-board.ts";
import { createPassThroughRouter } from "./pass-through.ts";
import { surfaceText } from "@callgate/runtime/surface";
import type { SurfaceText } from "@callgate/runtime/surface";
import { createUpstreamServer } from "./upstream-server.ts";

export interface McpServerOptions {
  readonly gate: Gate;
  /** As clients show it. Default `callgate`. */
  readonly name?: string;
  readonly version: string;
  /** On whose behalf clients act; the client's own name is `agent` where it names none. Default: the gate's own. */
  readonly principal?: Principal;
  /** Longest silence while a request is under way. Default 10,000. */
  readonly progressEveryMs?: number;
  /**
   * Asks the person in front of a client that has forms (elicitation), where their word counts without a key. Default true.
   * Turn it off where a client answers by itself.
   */
  readonly elicits?: boolean;
  /** Passes questions of MCP servers on to the client whose call they are about: what the sources were given (`createClientAsker`). Default: none are. */
  readonly asker?: ClientAsker;
  /** Shows this one source as it is, under its own names, instead of the six tools. Its calls must give whole answers. */
  readonly passThrough?: string;
  /** Told about every fault that a client only got an id of. Default: nobody. */
  readonly onFault?: (id: string, error: unknown) => void;
}

export interface StdioStreams {
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  /** On whose behalf this client acts. Default: the server's. */
  readonly principal?: Principal;
}

export interface StdioEndpoint {
  /** Resolves when the client is gone. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** A gate as an MCP server, for any number of clients in both protocol eras. */
export interface McpGateServer {
  /** Serves one client over the process's own stdio (or given streams). Nothing else may write to stdout. */
  serveStdio(streams?: StdioStreams): StdioEndpoint;
  /** Serves any number of clients over Streamable HTTP on the loopback. */
  serveHttp(options?: HttpOptions): Promise<HttpEndpoint>;
  /** Ends all endpoints; the gate stays open. Idempotent. */
  close(): Promise<void>;
}

/** Changes that come together are announced once. */
const ANNOUNCE_AFTER_MS = 100;

/**
 * Puts a gate behind six MCP tools, whatever the number of tools it has, or behind the tools of one source. Requests run as `principal`; cancelling a
 * request cancels its run.
 */
export function createMcpServer(options: McpServerOptions): McpGateServer {
  const { gate, name = "callgate", version, principal = options.gate.principal, progressEveryMs = 10_000, elicits = true, asker = createClientAsker(), onFault = () => undefined } = options;
  const codec = createStateCodec();
  const passThrough = createPassThroughRouter(gate);
  const surfaces = createSurfaceCache(gate);
  const live = new Set<Server>();
  const closers = new Set<() => Promise<void>>();
  const reportError = (error: unknown): void => onFault("transport", error);

  const board = createNoticeBoard(gate, reportError);
  const createServer = (conversation: string, of: Principal = principal, isTold = false): Server => {
    board.saw(of);
    const common = { gate, name, version, principal: of, conversation, progressEveryMs, elicits, codec, asker, board: isTold ? board : undefined };
    if (options.passThrough !== undefined) return createUpstreamServer({ ...common, namespace: options.passThrough });
    return createGateServer({ ...common, surface: surfaces.get, passThrough, onFault });
  };
  /** For connections that live on and are told about changes. */
  const createLiveServer = (of: Principal = principal, era: ProtocolEra = "legacy"): Server => {
    const server = createServer(`mcp:${randomUUID()}`, of, era === "legacy");
    live.add(server);
    server.onclose = () => {
      live.delete(server);
      board.leave(server);
    };
    return server;
  };
  // Only the endpoint sets it, after it has checked the token.
  // Requests of the newer era belong to no connection: what a client has read counts for all it asks later.
  const modern = createMcpHandler(({ authInfo }) => createServer(`mcp-client:${authInfo?.clientId ?? ""}`, authInfo?.extra?.["principal"] as Principal | undefined), { legacy: "reject", onerror: reportError });
  const stopAnnouncing = announceChanges(gate, (toolsToo) => {
    for (const server of live) announceTo(server, toolsToo).catch(reportError);
    if (toolsToo) modern.notify.toolsChanged();
    modern.notify.resourcesChanged();
    modern.notify.promptsChanged();
  }, () => surfaces.refresh(principal));

  return {
    serveStdio: (streams = {}) => {
      const stdin = streams.stdin ?? process.stdin;
      const handle = serveStdio(({ era }) => createLiveServer(streams.principal, era), { transport: new StdioServerTransport(stdin, streams.stdout ?? process.stdout), onerror: reportError });
      const closed = new Promise<void>((resolve) => {
        stdin.once("end", resolve);
        stdin.once("close", resolve);
      });
      closers.add(() => handle.close());
      return { closed, close: () => handle.close() };
    },
    serveHttp: async (httpOptions = {}) => {
      const endpoint = await openHttpEndpoint(httpOptions, { modern, createLegacyServer: (of) => createLiveServer(of), onFault: reportError });
      closers.add(() => endpoint.close());
      return endpoint;
    },
    close: async () => {
      stopAnnouncing();
      board.close();
      await Promise.all([...closers].map((close) => close()));
      closers.clear();
      await modern.close();
    },
  };
}

async function announceTo(server: Server, toolsToo: boolean): Promise<void> {
  if (toolsToo) await server.sendToolListChanged();
  await server.sendResourceListChanged();
  await server.sendPromptListChanged();
}

/** Calls `announce` after the gate's tools or sources changed; `refresh` says whether what clients see of the tools did. */
function announceChanges(gate: Gate, announce: (toolsToo: boolean) => void, refresh: () => boolean): () => void {
  let timer: NodeJS.Timeout | undefined;
  const unsubscribe = gate.onEvent((event) => {
    if (event.kind !== "catalog-changed" && event.kind !== "source-changed") return;
    timer ??= setTimeout(() => {
      timer = undefined;
      announce(refresh());
    }, ANNOUNCE_AFTER_MS).unref();
  });
  return () => {
    clearTimeout(timer);
    unsubscribe();
  };
}

interface SurfaceCache {
  readonly get: (principal: Principal) => SurfaceText;
  /** Forgets all; true when the text for this principal is another one now. */
  refresh(principal: Principal): boolean;
}

/** Texts by who asks: what a principal may not call does not exist for it. At most a few kinds of client are around at once. */
function createSurfaceCache(gate: Gate): SurfaceCache {
  const texts = new Map<string, SurfaceText>();
  const keyOf = (principal: Principal): string => JSON.stringify([principal.tenant, principal.user, principal.agent ?? "", principal.roles, principal.claims]);
  const get = (principal: Principal): SurfaceText => {
    const key = keyOf(principal);
    const known = texts.get(key);
    if (known !== undefined) return known;
    if (texts.size >= 100) texts.clear();
    const text = surfaceText(gate, principal);
    texts.set(key, text);
    return text;
  };
  return {
    get,
    refresh: (principal) => {
      const before = texts.get(keyOf(principal));
      texts.clear();
      return before === undefined || JSON.stringify(before) !== JSON.stringify(get(principal));
    },
  };
}
