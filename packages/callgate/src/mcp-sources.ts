import { resolve } from "node:path";
import type { Source } from "@callgate/contract";
import type { GateSource } from "@callgate/runtime";
import { shapeSource } from "@callgate/runtime/source";
import { createMcpSource } from "@callgate/source-mcp";
import type { McpServerConfig } from "./config/mcp-server-schema.ts";
import { resolveReferences } from "./config/secret-references.ts";
import { sourceOptionsOf } from "./config/source-options-schema.ts";
import { failedSource } from "./failed-source.ts";

/** Sources of the `mcpServers` block, and the secrets among their settings. */
export interface McpSources {
  readonly sources: readonly GateSource[];
  readonly secrets: readonly string[];
}

/**
 * Makes a source of every server that is not disabled. Nothing is started before it is needed. A server whose settings
 * lead nowhere (a secret that is not set, a kind of server that is not supported) is a source that is `down`.
 *
 * @param folder where relative paths start
 */
export function mcpSources(servers: Readonly<Record<string, McpServerConfig>>, folder: string, env: NodeJS.ProcessEnv): McpSources {
  const secrets: string[] = [];
  const sources = Object.entries(servers).flatMap(([key, server]) => {
    if (server.disabled === true) return [];
    return [{ source: shapeSource(sourceOf(key, server, { folder, env, secrets }), sourceOptionsOf(server)) }];
  });
  return { sources, secrets };
}

interface Host {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Gathers what must never be shown. */
  readonly secrets: string[];
}

function sourceOf(key: string, server: McpServerConfig, { folder, env, secrets }: Host): Source {
  const namespace = server.namespace ?? key;
  if (server.command === undefined) {
    return failedSource({ namespace, kind: "mcp", reason: `mcpServers.${key}: servers reached by url are not supported yet; start it with a command (e.g. a bridge such as mcp-remote), or set "disabled": true` });
  }
  let values: Readonly<Record<string, string>>;
  try {
    const resolved = resolveReferences(server.env ?? {}, `mcpServers.${key}.env`, { env, folder });
    secrets.push(...resolved.secrets);
    values = resolved.values;
  } catch (fault) {
    return failedSource({ namespace, kind: "mcp", reason: fault instanceof Error ? fault.message : String(fault), brief: "its settings lead nowhere" });
  }
  return createMcpSource({
    namespace,
    command: server.command,
    args: server.args ?? [],
    env: values,
    cwd: resolve(folder, server.cwd ?? "."),
    ...(server.connectTimeoutMs === undefined ? {} : { connectTimeoutMs: server.connectTimeoutMs }),
    ...(server.timeoutMs === undefined ? {} : { callTimeoutMs: server.timeoutMs }),
  });
}
