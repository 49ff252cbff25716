import { resolve } from "node:path";
import type { AskServerQuestion, Clock, PinStore, Source } from "@callgate/contract";
import type { GateSource } from "@callgate/runtime";
import { digestOf } from "@callgate/runtime/journal-parts";
import { pinSource, shapeSource } from "@callgate/runtime/source";
import type { McpCommand, McpEndpoint, OAuthStore } from "@callgate/source-mcp";
import type { McpServerConfig } from "./config/mcp-server-schema.ts";
import { resolveReferences, resolveWords } from "./config/secret-references.ts";
import { sourceOptionsOf } from "./config/source-options-schema.ts";
import { endpointFetch, endpointOf } from "./mcp-endpoint.ts";
import type { McpEndpointConfig } from "./mcp-endpoint.ts";
import { failedSource } from "./failed-source.ts";

/** Sources of the `mcpServers` block, and the secrets among their settings. */
export interface McpSources {
  readonly sources: readonly GateSource[];
  readonly secrets: readonly string[];
}

export interface McpHost {
  /** Where relative paths start. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly pinsOf: (namespace: string) => PinStore;
  /** The sign-in at a URL. */
  readonly signInsOf: (url: string) => OAuthStore;
  /** Servers are started at once, not at the first call. */
  readonly isEager: boolean;
  /** Asks the person what a server wants to know, where its settings let it ask. Absent: nobody is asked. */
  readonly askServerQuestion?: AskServerQuestion | undefined;
  /** Calls of this one give whole answers, which a client gets unchanged. */
  readonly passThrough?: string | undefined;
}

/**
 * Makes a source of every server that is not disabled. Nothing is started before it is needed, and the client of MCP, a
 * fifth of all code there is to load, is loaded with the first server. A server whose settings lead nowhere (a secret that
 * is not set) is a source that is `down`.
 */
export function mcpSources(servers: Readonly<Record<string, McpServerConfig>>, host: McpHost): McpSources {
  const secrets: string[] = [];
  const sources = Object.entries(servers).flatMap(([key, server]) => (server.disabled === true ? [] : [{ source: shapeSource(sourceOf(key, server, { ...host, secrets }), sourceOptionsOf(server)) }]));
  return { sources, secrets };
}

interface Gathering extends McpHost {
  /** Gathers what must never be shown. */
  readonly secrets: string[];
}

function sourceOf(key: string, server: McpServerConfig, host: Gathering): Source {
  const namespace = server.namespace ?? key;
  let place: Place;
  try {
    place = placeOf(key, server, host);
  } catch (fault) {
    return failedSource({ namespace, kind: "mcp", reason: fault instanceof Error ? fault.message : String(fault), brief: "its settings lead nowhere" });
  }
  const isWhole = host.passThrough === namespace;
  const common = {
    namespace,
    ...(isWhole ? { answers: "whole" as const } : {}),
    ...(server.elicitation === true && host.askServerQuestion !== undefined ? { ask: host.askServerQuestion } : {}),
    ...(server.connectTimeoutMs === undefined ? {} : { connectTimeoutMs: server.connectTimeoutMs }),
    ...(server.timeoutMs === undefined ? {} : { callTimeoutMs: server.timeoutMs }),
    ...(server.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: server.idleTimeoutMs }),
  };
  const pinned = pinSource({
    namespace,
    kind: "mcp",
    identity: identityOf(place),
    clock: host.clock,
    isEager: host.isEager,
    ...(server.unsafeWithoutPins === true ? {} : { pins: host.pinsOf(namespace) }),
    ...(server.timeoutMs === undefined ? {} : { timeoutMs: server.timeoutMs }),
    open: async () => (await import("@callgate/source-mcp")).createMcpSource({ ...common, ...("command" in place ? place : await reached(place, namespace, host)) }),
  });
  return isWhole ? withoutOutputs(pinned) : pinned;
}

/** What a tool declares as its output is a part of a whole answer. */
function withoutOutputs(source: Source): Source {
  const list: Source["list"] = async (signal) => {
    const listing = await source.list(signal);
    return { ...listing, tools: listing.tools.map(({ tool: { output: _output, ...tool }, ...rest }) => ({ ...rest, tool })) };
  };
  // Everything else is the source's own, its state too.
  return Object.create(source, { list: { value: list } }) as Source;
}

type Place = (McpCommand & { readonly written: McpWords }) | McpEndpointConfig;

/** A command line as the configuration has it: with references in place of what is secret in it. */
interface McpWords {
  readonly command: string;
  readonly args: readonly string[];
}

/** Errors: CONFIG_INVALID. */
function placeOf(key: string, server: McpServerConfig, host: Gathering): Place {
  if (server.command === undefined) {
    const endpoint = endpointOf(key, server, host);
    host.secrets.push(...endpoint.secrets);
    return endpoint;
  }
  const { values, secrets } = resolveReferences(server.env ?? {}, `mcpServers.${key}.env`, host);
  const written: McpWords = { command: server.command, args: server.args ?? [] };
  const { words: [command = written.command] } = resolveWords([written.command], `mcpServers.${key}.command`, host);
  const { words: args, secrets: hidden } = resolveWords(written.args, `mcpServers.${key}.args`, host);
  host.secrets.push(...secrets, ...hidden);
  return { command, args, env: values, cwd: resolve(host.folder, server.cwd ?? "."), hidden, written };
}

/** How a server at a URL is spoken to. Credentials of yours come before any sign-in. */
async function reached(endpoint: McpEndpointConfig, namespace: string, { signInsOf, clock }: McpHost): Promise<McpEndpoint> {
  const { url, headers, transport, oauth } = endpoint;
  const fetch = endpointFetch(endpoint);
  const common = { url, headers, fetch, ...(transport === undefined ? {} : { transport }) };
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return common;
  const { createClientCredentials, createOAuthTokens } = await import("@callgate/source-mcp");
  if (!oauth.isOwnClient) return { ...common, auth: createOAuthTokens({ store: signInsOf(url), fetch, signInWith: `callgate auth login ${namespace}`, now: () => clock.now() }) };
  const { clientId = "", clientSecret = "", privateKey, algorithm = "ES256", scopes } = oauth;
  const proof = privateKey === undefined ? { clientSecret } : { privateKey, algorithm };
  return { ...common, auth: createClientCredentials({ url, clientId, proof, fetch, now: () => clock.now(), ...(scopes === undefined ? {} : { scopes }) }) };
}

/** Of what is started or reached. Settings that are secret are none of it: a new key is the same server. */
function identityOf(place: Place): ReturnType<typeof digestOf> {
  if ("command" in place) return digestOf({ command: place.written.command, args: place.written.args, cwd: place.cwd ?? null });
  const { origin, pathname } = new URL(place.url);
  return digestOf({ url: `${origin}${pathname}` });
}
