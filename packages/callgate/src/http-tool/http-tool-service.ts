import { CallgateError, ToolError } from "@callgate/contract";
import type { ToolContext } from "@callgate/contract";
import { createCredentials, createFetch, createHttpClient, originOf } from "@callgate/http-client";
import type { AuthSpec, Credentials, HttpClient } from "@callgate/http-client";
import { systemClock } from "@callgate/runtime";
import { callOperation } from "@callgate/source-openapi/request";
import type { HttpOperation, HttpParameter, OperationService } from "@callgate/source-openapi/request";
import { resolveReferences } from "../config/secret-references.ts";
import type { ArgumentPlace, HttpEndpoint } from "./http-endpoint.ts";

/** Calls one endpoint. */
export interface HttpToolService {
  call(args: unknown, context: ToolContext): Promise<unknown>;
}

/** Throws `ToolError` AUTH_NEEDED for a reference that leads nowhere. */
export function createHttpToolService(endpoint: HttpEndpoint): HttpToolService {
  const { url, auth, timeoutMs, redirectOrigins, headers, pages } = endpoint;
  const specs = auth === undefined ? [] : [auth].flat();
  const tokenOrigins = specs.flatMap((spec) => (spec.kind === "oauth2" ? [originOf(spec.tokenUrl)] : []));
  const client = createHttpClient({ namedOrigins: [url.origin, ...tokenOrigins], ...(redirectOrigins === undefined ? {} : { redirectOrigins }), bounds: { firstByteMs: timeoutMs, totalMs: timeoutMs } });
  const credentials = specs.length === 0 ? undefined : credentialsOf(specs, endpoint, client);
  const service: OperationService = { client, server: url, ...(credentials === undefined ? {} : { credentials }), ...(headers === undefined ? {} : { headers: Object.entries(headers) }) };
  return {
    call: async (args, context) => await callOperation(service, { operation: operationOf(endpoint, [...new Set([...endpoint.names, ...Object.keys((args ?? {}) as object)])]), args, context, ...(pages === undefined ? {} : { paging: pages }) }),
  };
}

function credentialsOf(specs: readonly AuthSpec[], { owner, url }: HttpEndpoint, client: HttpClient): Credentials {
  const read = (reference: string): string => {
    if (!/^(?:env:|file:|keychain:|\$\{)/.test(reference)) throw new CallgateError("CONFIG_INVALID", `${owner}: a secret of auth must be a reference, such as env:API_TOKEN; it does not belong into the code`);
    return resolveReferences({ auth: reference }, owner, { env: process.env, folder: process.cwd() }).values["auth"] ?? "";
  };
  try {
    return createCredentials(specs, { origins: [url.origin], read, fetch: createFetch(client), clock: systemClock() });
  } catch (fault) {
    if (!CallgateError.is(fault)) throw fault;
    throw new ToolError({ code: "AUTH_NEEDED", message: fault.message, notApplied: true, cause: fault });
  }
}

const withoutBody: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/** The endpoint as an operation whose parameters are the arguments of one call. */
function operationOf({ method, path, places = {}, bodyType = "application/json", idempotencyHeader }: HttpEndpoint, names: readonly string[]): HttpOperation {
  const inPath = new Set([...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name));
  const placeOf = (name: string): ArgumentPlace => (inPath.has(name) ? "path" : Object.hasOwn(places, name) ? (places[name] ?? "query") : withoutBody.has(method) ? "query" : "body");
  const inBody = names.filter((name) => placeOf(name) === "body");
  const parameters = names.flatMap((name): readonly HttpParameter[] => {
    const place = placeOf(name);
    if (place === "body") return [];
    const isPart = place === "path" || place === "header";
    return [{ name: place === "header" ? name.replaceAll("_", "-") : name, argument: name, in: place, required: place === "path", style: isPart ? "simple" : "form", explode: !isPart, allowReserved: false }];
  });
  return {
    method,
    path,
    servers: [],
    parameters,
    responses: [],
    security: [],
    ...(inBody.length === 0 ? {} : { body: { mediaType: bodyType, required: true, from: { kind: "merged", properties: inBody }, files: [] } }),
    ...(idempotencyHeader === undefined ? {} : { idempotencyHeader }),
  };
}
