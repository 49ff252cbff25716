import { CallgateError } from "@callgate/contract";
import type { Effect, Source } from "@callgate/contract";
import { createMcpSource } from "@callgate/source-mcp";
import type { McpServerConfig } from "./config/config-schema.ts";
import { resolveReferences } from "./config/secret-references.ts";

/** Sources of the `mcpServers` block, and the secrets among their settings. */
export interface McpSources {
  readonly sources: readonly { readonly source: Source; readonly trusted: boolean; readonly overrides: Readonly<Record<string, Effect>> }[];
  readonly secrets: readonly string[];
}

/**
 * Makes a source of every server that is not disabled. Nothing is started before it is needed.
 *
 * @param folder where relative paths start
 *
 * Errors: `CallgateError` CONFIG_INVALID for a reference that leads nowhere, or a server that is reached by URL.
 */
export function mcpSources(servers: Readonly<Record<string, McpServerConfig>>, folder: string, env: NodeJS.ProcessEnv): McpSources {
  const secrets: string[] = [];
  const sources: McpSources["sources"][number][] = [];
  for (const [key, server] of Object.entries(servers)) {
    if (server.disabled === true) continue;
    if (server.command === undefined) {
      throw new CallgateError("CONFIG_INVALID", `mcpServers.${key}: servers reached by url are not supported yet; start it with a command (e.g. a bridge such as mcp-remote), or set "disabled": true`);
    }
    const resolved = resolveReferences(server.env ?? {}, `mcpServers.${key}.env`, { env, folder });
    secrets.push(...resolved.secrets);
    const source = createMcpSource({
      namespace: server.namespace ?? key,
      command: server.command,
      args: server.args ?? [],
      env: resolved.values,
      cwd: server.cwd ?? folder,
      ...(server.purpose === undefined ? {} : { purpose: server.purpose }),
      ...(server.connectTimeoutMs === undefined ? {} : { connectTimeoutMs: server.connectTimeoutMs }),
      ...(server.timeoutMs === undefined ? {} : { callTimeoutMs: server.timeoutMs }),
    });
    sources.push({ source, trusted: server.trustAnnotations ?? false, overrides: server.effects ?? {} });
  }
  return { sources, secrets };
}
