import type { Source, SourceListing, SourceState, ToolContext } from "@callgate/contract";
import { callTool } from "./call-tool.ts";
import { childEnv } from "./child-env.ts";
import { createConnector } from "./connector.ts";
import { collectPages } from "./paging.ts";
import { createPassThrough } from "./pass-through.ts";
import type { ServerLabel } from "./server-failure.ts";
import { parseListing } from "./tool-listing.ts";

/** An MCP server that is started as a process and spoken to over its stdio. */
export interface McpSourceOptions {
  /** Module name for its tools, before the naming rule. */
  readonly namespace: string;
  /** Executable, looked up on PATH. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Given to the process beside a short list of harmless variables (PATH, HOME, ...); nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the working directory of this process. */
  readonly cwd?: string;
  /** From start to the end of the handshake. Default 30,000: a package runner may have to download first. */
  readonly connectTimeoutMs?: number;
  /** For one page of a list. Default 30,000. */
  readonly listTimeoutMs?: number;
  /** Deadline of one call, as `ToolSpec.timeoutMs`. Default 60,000. */
  readonly callTimeoutMs?: number;
  /** Longest single answer; a longer one fails its own call. Default 64 MiB. */
  readonly maxMessageBytes?: number;
  /** How long the process may take to end by itself. Default 2,000. */
  readonly stopGraceMs?: number;
  /** Name and version told to the server. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** Where the allowed variables come from. Default `process.env`. */
  readonly hostEnv?: Readonly<Record<string, string | undefined>>;
  /** Monotonic milliseconds, for the wait between restarts. Default `performance.now`. */
  readonly now?: () => number;
}

/**
 * Makes an MCP server a source of tools. Its purpose is the first sentence of the server's instructions, or its title. Nothing is started before the first use; a server that dies is started again
 * at the next use, with growing waits while it keeps failing. Both protocol eras are spoken.
 *
 * What `call` gives is said at `readCallValue`. Elicitation and sampling requests of the server are refused.
 */
export function createMcpSource(options: McpSourceOptions): Source {
  const { namespace, command, args = [], env = {}, callTimeoutMs = 60_000, listTimeoutMs = 30_000, now = () => performance.now() } = options;
  const label: ServerLabel = { namespace, command, args, secrets: Object.values(env) };
  const effects = new Map<string, string>();
  let listener: () => void = () => undefined;
  const connector = createConnector({
    label,
    now,
    onChange: () => listener(),
    connect: {
      transport: {
        command,
        args,
        env: childEnv(options.hostEnv ?? process.env, env),
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        maxMessageBytes: options.maxMessageBytes ?? 64 * 1024 * 1024,
        graceMs: options.stopGraceMs ?? 2_000,
      },
      connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
      clientInfo: options.clientInfo ?? { name: "callgate", version: "0.1.0" },
    },
  });

  const call = (name: string, toolArgs: unknown, context: ToolContext): Promise<unknown> =>
    callTool({ connector, name, args: toolArgs, context, isRead: effects.get(name) === "read" });

  const list = async (signal: AbortSignal): Promise<SourceListing> => {
    const connection = await connector.get(signal);
    if (!connection.has("tools")) return { tools: [], problems: [] };
    try {
      const pages = await collectPages((cursor) => connection.request("tools/list", cursor === undefined ? {} : { cursor }, { signal, timeoutMs: listTimeoutMs }), "tools");
      const [problem] = pages.problems;
      if (pages.items.length === 0 && problem !== undefined) throw new Error(problem);
      const listing = parseListing(pages.items, { timeoutMs: callTimeoutMs, handler: (name) => (toolArgs, context) => call(name, toolArgs, context) });
      effects.clear();
      for (const { tool } of listing.tools) effects.set(tool.name, tool.effect);
      return { tools: listing.tools, problems: [...pages.problems.map((message) => ({ message })), ...listing.problems] };
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
    passThrough: createPassThrough({ connector, listTimeoutMs }),
  };
}
