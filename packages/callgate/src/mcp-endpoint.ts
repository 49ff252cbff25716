import { CallgateError } from "@callgate/contract";
import { createFetch, createHttpClient } from "@callgate/http-client";
import type { McpServerConfig } from "./config/mcp-server-schema.ts";
import { resolveReferences } from "./config/secret-references.ts";

/** A server of the configuration that is reached at a URL, its references replaced. */
export interface McpEndpointConfig {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly transport?: "streamable-http" | "sse";
  readonly oauth: {
    readonly clientId?: string;
    readonly clientSecret?: string;
    readonly privateKey?: string;
    readonly algorithm?: string;
    /** The client acts for itself: nobody signs in. */
    readonly isOwnClient: boolean;
    /** Said by the configuration in place of the server. */
    readonly issuer?: string;
    readonly clientMetadataUrl?: string;
    readonly scopes?: readonly string[];
  };
  /** That a person named: they may be on this machine or in a private network. */
  readonly origins: readonly string[];
  /** What must never be shown. */
  readonly secrets: readonly string[];
}

type Host = Parameters<typeof resolveReferences>[2];

/** Errors: `CallgateError` CONFIG_INVALID for a reference that leads nowhere, and for what is no URL. */
export function endpointOf(key: string, server: McpServerConfig, host: Host): McpEndpointConfig {
  const place = `mcpServers.${key}`;
  const { values, secrets } = resolveReferences({ url: server.url ?? "" }, place, host);
  const url = values["url"] ?? "";
  if (!URL.canParse(url)) throw new CallgateError("CONFIG_INVALID", `${place}.url is no URL once its references are replaced; write it as https://host/path`);
  const headers = resolveReferences(server.headers ?? {}, `${place}.headers`, host);
  const { grant, clientId, clientSecret, privateKey, algorithm, issuer, clientMetadataUrl, scopes, origins = [] } = server.oauth ?? {};
  const isOwnClient = grant === "client_credentials";
  if (isOwnClient && (clientId === undefined || (clientSecret === undefined) === (privateKey === undefined))) throw new CallgateError("CONFIG_INVALID", `${place}.oauth: a client that acts for itself needs clientId, and either clientSecret or privateKey`);
  const secret = resolveReferences({ ...(clientSecret === undefined ? {} : { clientSecret }), ...(privateKey === undefined ? {} : { privateKey }) }, `${place}.oauth`, host);
  const transport = transportOf(server);
  return {
    url,
    headers: headers.values,
    oauth: {
      isOwnClient,
      ...(secret.values["privateKey"] === undefined ? {} : { privateKey: secret.values["privateKey"] }),
      ...(algorithm === undefined ? {} : { algorithm }),
      ...(clientId === undefined ? {} : { clientId }),
      ...(secret.values["clientSecret"] === undefined ? {} : { clientSecret: secret.values["clientSecret"] }),
      ...(issuer === undefined ? {} : { issuer }),
      ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
      ...(scopes === undefined ? {} : { scopes }),
    },
    origins: [new URL(url).origin, ...(issuer === undefined ? [] : [new URL(issuer).origin]), ...origins],
    secrets: [...secrets, ...headers.secrets, ...secret.secrets],
    ...(transport === undefined ? {} : { transport }),
  };
}

/** As other clients write it. What names none of both leaves it to what the server answers. */
function transportOf({ transport, type }: McpServerConfig): "streamable-http" | "sse" | undefined {
  const said = (transport ?? type ?? "").toLowerCase().replaceAll(/[^a-z]/g, "");
  if (said === "sse") return "sse";
  return said.includes("http") ? "streamable-http" : undefined;
}

/** A stream of events lives as long as its connection, and an answer may take as long as its call: those have bounds of their own. */
const unbounded = 2 ** 31 - 1;

/**
 * What all requests to it, and of its sign-in, go through. Where a server or its metadata leads into a private network, only
 * the origins that a person named are asked.
 */
export function endpointFetch({ origins }: McpEndpointConfig): typeof fetch {
  const client = createHttpClient({ namedOrigins: origins, bounds: { firstByteMs: unbounded, idleMs: unbounded, totalMs: unbounded, responseBytes: Number.MAX_SAFE_INTEGER } });
  return createFetch(client);
}
