import { basename } from "node:path";
import type { AskServerQuestion, Source, SourceListing, SourceState, ToolContext } from "@callgate/contract";
import type { AuthProvider, FetchLike } from "@modelcontextprotocol/client";
import { callTool } from "./call-tool.ts";
import { childEnv } from "./child-env.ts";
import type { ConnectOptions } from "./connection.ts";
import { createConnector } from "./connector.ts";
import type { Connector } from "./connector.ts";
import { headersOf } from "./header-params.ts";
import type { HeaderParam } from "./header-params.ts";
import { createNotices } from "./notices.ts";
import { collectPages } from "./paging.ts";
import { createPassThrough } from "./pass-through.ts";
import type { ServerLabel } from "./server-failure.ts";
import { createServerQuestions } from "./server-questions.ts";
import { parseListing } from "./tool-listing.ts";

/** An MCP server, started as a process or reached over HTTP. */
export type McpSourceOptions = McpCommonOptions & (McpCommand | McpEndpoint);

interface McpCommonOptions {
  /** Module name for its tools, before the naming rule. */
  readonly namespace: string;
  /** From start to the end of the handshake. Default 30,000: a package runner may have to download first. */
  readonly connectTimeoutMs?: number;
  /** For one page of a list. Default 30,000. */
  readonly listTimeoutMs?: number;
  /** Deadline of one call, as `ToolSpec.timeoutMs`. Default 60,000. */
  readonly callTimeoutMs?: number;
  /** How long a server may be silent during a call: no answer, no progress. Progress never extends the deadline. Default: no bound of its own. */
  readonly idleTimeoutMs?: number;
  /** Longest single answer; a longer one fails its own call. Default 64 MiB. */
  readonly maxMessageBytes?: number;
  /**
   * `whole`: what a call gives is the whole answer of the server, for a gate that hands it on unchanged. It does not match
   * the output that a tool declares, which is of a part of it. Default `values`.
   */
  readonly answers?: "values" | "whole";
  /**
   * Passes questions of the server (elicitation, `input_required`) on to a person. Only while a call of it is under way: one
   * that asks out of nothing is refused. Absent: every question is, and a call that needs one fails as INPUT_REQUIRED.
   */
  readonly ask?: AskServerQuestion;
  /** Name and version told to the server. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** Monotonic milliseconds, for the wait between restarts. Default `performance.now`. */
  readonly now?: () => number;
}

/** A server that is started as a process and spoken to over its stdio. */
export interface McpCommand {
  /** Executable, looked up on PATH. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Given to the process beside a short list of harmless variables (PATH, HOME, ...); nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** Parts of `args` that never show in an error, beside the values of `env`. */
  readonly hidden?: readonly string[];
  /** Default: the working directory of this process. */
  readonly cwd?: string;
  /** How long the process may take to end by itself. Default 2,000. */
  readonly stopGraceMs?: number;
  /** Where the allowed variables come from. Default `process.env`. */
  readonly hostEnv?: Readonly<Record<string, string | undefined>>;
}

/** A server that is reached at a URL. */
export interface McpEndpoint {
  readonly url: string;
  /** `sse` is the transport before 2025-03-26. Default: the newer one, then the older where the server refuses that. */
  readonly transport?: "streamable-http" | "sse";
  /** Sent with every request. Their values never show in an error. */
  readonly headers?: Readonly<Record<string, string>>;
  /** All requests go through it. */
  readonly fetch: FetchLike;
  /** Gives the token of each request, and is told when one does not count. Default: none, `headers` are all there is. */
  readonly auth?: AuthProvider;
}

/**
 * Makes an MCP server a source of tools. Its purpose is the first sentence of the server's instructions, or its title.
 * Nothing is started or reached before the first use; a server that dies is started or reached again at the next use,
 * with growing waits while it keeps failing. Both protocol eras are spoken.
 *
 * What `call` gives is said at `readCallValue`. Sampling requests of the server are refused, and questions without `ask`.
 */
export function createMcpSource(options: McpSourceOptions): Source {
  const { namespace, callTimeoutMs = 60_000, listTimeoutMs = 30_000, idleTimeoutMs, answers = "values", now = () => performance.now() } = options;
  const known = new Map<string, { readonly isRead: boolean; readonly headers: readonly HeaderParam[] }>();
  const questions = createServerQuestions(namespace, options.ask);
  let listener: () => void = () => undefined;
  const notices = createNotices(() => connector);
  const connector: Connector = createConnector({
    label: labelOf(options),
    now,
    onChange: () => listener(),
    onConnected: notices.connected,
    connect: {
      server: serverOf(options),
      connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
      clientInfo: options.clientInfo ?? { name: "callgate", version: "0.1.0" },
      onNotice: notices.tell,
      ...(options.ask === undefined ? {} : { onQuestion: questions.ask }),
    },
  });

  const call = async (name: string, toolArgs: unknown, context: ToolContext): Promise<unknown> => {
    const { isRead = false, headers = [] } = known.get(name) ?? {};
    const { call: asking, end } = questions.begin(name, context);
    return await callTool({ connector, name, args: toolArgs, context, isRead, answers, answerInput: (body) => questions.answer(body, asking), ...(headers.length === 0 ? {} : { headers: headersOf(headers, toolArgs) }), ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }) }).finally(end);
  };

  const list = async (signal: AbortSignal): Promise<SourceListing> => {
    const connection = await connector.get(signal);
    if (!connection.has("tools")) return { tools: [], problems: [] };
    try {
      const pages = await collectPages((cursor) => connector.request("tools/list", cursor === undefined ? {} : { cursor }, { signal, timeoutMs: listTimeoutMs }), "tools");
      const [problem] = pages.problems;
      if (pages.items.length === 0 && problem !== undefined) throw new Error(problem);
      const listing = parseListing(pages.items, { timeoutMs: callTimeoutMs, mirrorsHeaders: "url" in options && connection.era === "modern", handler: (name) => (toolArgs, context) => call(name, toolArgs, context) });
      known.clear();
      for (const { tool, headers } of listing.tools) known.set(tool.name, { isRead: tool.effect === "read", headers });
      return { tools: listing.tools.map(({ tool }) => ({ tool, claimed: true })), problems: [...pages.problems.map((message) => ({ message })), ...listing.problems] };
    } catch (error) {
      signal.throwIfAborted();
      throw connector.failure("could not list its tools", error);
    }
  };

  return {
    namespace,
    kind: "mcp",
    get purpose() {
      return connector.purpose();
    },
    get state(): SourceState {
      return connector.state();
    },
    list,
    call,
    onChange: (fire) => {
      listener = fire;
    },
    close: () => connector.close(),
    passThrough: createPassThrough({ connector, listTimeoutMs, notices }),
  };
}

function labelOf(options: McpSourceOptions): ServerLabel {
  const { namespace } = options;
  if ("url" in options) {
    const { host, origin, pathname, search } = new URL(options.url);
    return {
      namespace,
      brief: host,
      // What follows the path is often a key.
      place: `URL: ${origin}${pathname}${search === "" ? "" : "?…"}`,
      fix: "see that the URL is right and reachable from here, and that headers and sign-in are those it wants (callgate auth ls)",
      secrets: [...Object.values(options.headers ?? {}).flatMap((value) => [value, value.replace(/^(?:Bearer|Basic|Token) /i, "")]), ...(search === "" ? [] : [search])],
    };
  }
  const { command, args = [], env = {}, hidden = [] } = options;
  return {
    namespace,
    brief: basename(command),
    place: `Command: ${[command, ...args].join(" ")}`,
    fix: "run the command by hand and see that it starts and waits for input; check its arguments, environment and working directory in the configuration.",
    secrets: [...Object.values(env), ...hidden],
  };
}

function serverOf(options: McpSourceOptions): ConnectOptions["server"] {
  const maxMessageBytes = options.maxMessageBytes ?? 64 * 1024 * 1024;
  if ("url" in options) {
    const { url, headers = {}, fetch, auth, transport } = options;
    return { kind: "http", url: new URL(url), headers, fetch, maxMessageBytes, ...(auth === undefined ? {} : { auth }), ...(transport === undefined ? {} : { flavor: transport === "sse" ? "sse" : "streamable" }) };
  }
  return {
    kind: "stdio",
    command: options.command,
    args: options.args ?? [],
    env: childEnv(options.hostEnv ?? process.env, options.env ?? {}),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    maxMessageBytes,
    graceMs: options.stopGraceMs ?? 2_000,
  };
}
