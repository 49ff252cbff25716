import type { Clock, Source } from "@callgate/contract";
import { createFetch, createHttpClient, originOf, shownUrl } from "@callgate/http-client";
import type { HttpClient } from "@callgate/http-client";
import type { FetchText } from "./document/document-reader.ts";
import { isUrl, locationOf } from "./document/document-reader.ts";
import { documentSource } from "./openapi-source.ts";
import { createServiceFinder } from "./service-finder.ts";
import type { OpenApiAuth } from "./service-finder.ts";

/** A service that an OpenAPI document describes. */
export interface OpenApiSourceOptions {
  /** Module name for its tools, before the naming rule. */
  readonly namespace: string;
  /** Path or http(s) URL of the document: OpenAPI 3.0, 3.1 or Swagger 2, JSON or YAML. */
  readonly document: string;
  /** Where relative paths start, and within which references between files may lead. Default: the working directory. */
  readonly folder?: string;
  /** Base URL of the service, in place of the document's `servers`. */
  readonly server?: string;
  readonly auth?: OpenApiAuth;
  /** Reads what `auth` refers to. Throws `CallgateError` CONFIG_INVALID naming what is missing. Default: no reference can be read. */
  readonly readSecret?: (reference: string) => string;
  /** One line on what is behind it. Default: title and first sentence of the document's own description. */
  readonly purpose?: string;
  /** Where conversions are kept, so that a start reads and converts nothing. Default: nowhere. */
  readonly cacheFolder?: string;
  /** How old a document from a URL may get before it is read again. Default a day. */
  readonly refreshMs?: number;
  /** Deadline of one call, as `ToolSpec.timeoutMs`. Default 60,000. */
  readonly callTimeoutMs?: number;
  readonly clock: Clock;
}

const dayMs = 86_400_000;
/** Of a document: most are under 1 MiB, the largest that are known about 20. */
const maxDocumentBytes = 64 * 1024 * 1024;

/**
 * Makes a service with an OpenAPI document a source: each operation is a tool. Nothing is read before the first use, and a
 * document is converted when it changes. Effects are the methods' word, which counts once the user trusts the source.
 *
 * Addresses that the options name may be private; where the document or a redirect leads is judged.
 *
 * Errors: `CallgateError` CONFIG_INVALID for a URL or a token URL that is none.
 */
export function createOpenApiSource(options: OpenApiSourceOptions): Source {
  const { namespace, document, server, auth, clock, folder = process.cwd(), callTimeoutMs = 60_000 } = options;
  const location = locationOf(document, folder);
  const namedOrigins = [...(isUrl(location) ? [originOf(location)] : []), ...(server === undefined ? [] : [originOf(new URL(server, isUrl(location) ? location : undefined).href)]), ...tokenOrigins(auth)];
  const client = createHttpClient({ namedOrigins, bounds: { firstByteMs: callTimeoutMs, totalMs: callTimeoutMs } });
  const documents = createHttpClient({ namedOrigins, redirectOrigins: "any", bounds: { responseBytes: maxDocumentBytes } });
  const read = options.readSecret ?? ((): never => {
    throw new Error(`the source "${namespace}" has auth and nothing that reads secrets (readSecret)`);
  });
  return documentSource({
    namespace,
    document,
    folder,
    purpose: options.purpose,
    cacheFolder: options.cacheFolder,
    refreshMs: options.refreshMs ?? dayMs,
    callTimeoutMs,
    clock,
    fetchText: textThrough(documents),
    services: createServiceFinder({ namespace, location, server, auth, client, credentialsHost: { read, fetch: createFetch(client), clock } }),
    release: async () => {
      await Promise.all([client.close(), documents.close()]);
    },
  });
}

function textThrough(client: HttpClient): FetchText {
  return async (url, signal) => {
    const result = await client.send({ method: "GET", url, headers: [["accept", "application/json, application/yaml, text/yaml, */*;q=0.5"]], signal });
    if (result.kind === "failed") throw new Error(result.message);
    if (result.status !== 200) throw new Error(`GET ${shownUrl(url)} answered ${result.status}`);
    return new TextDecoder().decode(result.bytes);
  };
}

/** Token endpoints that the user wrote down. */
function tokenOrigins(auth: OpenApiAuth | undefined): readonly string[] {
  if (auth === undefined || typeof auth === "string") return [];
  const specs: readonly unknown[] = [auth, ...Object.values(auth)];
  return specs.flatMap((spec) => {
    const url = (spec as { readonly tokenUrl?: unknown } | null)?.tokenUrl;
    return typeof url === "string" ? [originOf(url)] : [];
  });
}
