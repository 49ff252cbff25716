import { CallgateError, pagedOutput } from "@callgate/contract";
import type { Effect, JsonSchema, Tool } from "@callgate/contract";
import { defineTool, normalizeSchema } from "@callgate/runtime/source";
import type { SchemaInput, ToolDefinition } from "@callgate/runtime/source";
import type { EndpointOptions, HttpEndpoint } from "./http-endpoint.ts";

/** What `httpTool` takes: what `defineTool` does but the handler, and the endpoint. */
export interface HttpToolDefinition<Input extends SchemaInput, Output extends SchemaInput | undefined> extends Omit<ToolDefinition<Input, Output>, "handler">, EndpointOptions {
  /** http or https. `{name}` in its path is the argument of that name; a query is sent with every call. The origin is as written: it may be on this machine or in a private network. */
  readonly url: string;
}

const defaultTimeoutMs = 60_000;
/** Of services as far away as any: twice, a pause that they ask for within the bound. */
const retry = { retries: 2, minDelayMs: 250, maxDelayMs: 20_000 } as const;

const effects: Readonly<Record<EndpointOptions["method"], Effect>> = { GET: "read", HEAD: "read", OPTIONS: "read", POST: "write", PUT: "write", PATCH: "write", DELETE: "destructive" };

/**
 * Makes a tool of one HTTP endpoint, without a document.
 *
 * Left out, `effect` is the method's (GET reads, DELETE is destructive, the rest writes), `timeoutMs` 60,000. Calls fail with
 * `HTTP_<status>`, and are repeated only where that is safe. Nothing is loaded or opened before the first call.
 *
 * Errors: `CallgateError` TOOL_INVALID when the URL is none, its origin has a template, or a template has no argument.
 */
export function httpTool<const Input extends SchemaInput, const Output extends SchemaInput | undefined = undefined>(definition: HttpToolDefinition<Input, Output>): Tool {
  const { method, url: written, places, bodyType, headers, auth, pages, idempotencyHeader, redirectOrigins, output, ...declared } = definition;
  const owner = `httpTool "${definition.name ?? written}"`;
  const timeoutMs = definition.timeoutMs ?? defaultTimeoutMs;
  const { url, path } = endpointOf(written, owner);
  const names = argumentNames(path, normalizeSchema(definition.input, `${owner}: input`, "input").json, owner);
  const endpoint: HttpEndpoint = {
    owner,
    method,
    url,
    path,
    names,
    timeoutMs,
    ...(places === undefined ? {} : { places }),
    ...(bodyType === undefined ? {} : { bodyType }),
    ...(headers === undefined ? {} : { headers }),
    ...(auth === undefined ? {} : { auth }),
    ...(pages === undefined ? {} : { pages }),
    ...(idempotencyHeader === undefined ? {} : { idempotencyHeader }),
    ...(redirectOrigins === undefined ? {} : { redirectOrigins }),
  };
  // The client of HTTP is large, and most processes that load a tool never call it.
  const service = lazily(async () => (await import("./http-tool-service.ts")).createHttpToolService(endpoint));
  const tool: ToolDefinition<SchemaInput, SchemaInput | undefined> = {
    ...(declared as Omit<ToolDefinition<SchemaInput, SchemaInput | undefined>, "handler">),
    effect: definition.effect ?? effects[method],
    timeoutMs,
    retry: definition.retry ?? retry,
    ...(idempotencyHeader === undefined ? {} : { idempotent: definition.idempotent ?? true }),
    ...(pages === undefined ? (output === undefined ? {} : { output }) : { paged: true, output: pagedOutput(output === undefined ? undefined : normalizeSchema(output, `${owner}: output`, "output").json) }),
    handler: async (args, context) => await (await service()).call(args, context),
  };
  return defineTool(tool);
}

function lazily<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  // What failed is tried again: a secret may be there by then.
  return () => (made ??= make().catch((fault: unknown) => {
    made = undefined;
    throw fault;
  }));
}

function endpointOf(written: string, owner: string): { readonly url: URL; readonly path: string } {
  const [address = "", query = ""] = written.split("?", 2);
  const [, origin = "", path = "/"] = /^(https?:\/\/[^/{}]+)(\/.*)?$/i.exec(address) ?? [];
  const url = URL.parse(`${origin}/${query === "" ? "" : `?${query}`}`);
  if (origin === "" || url === null || url.username !== "" || url.password !== "" || /[#\\]/.test(written)) {
    throw new CallgateError("TOOL_INVALID", `${owner}: url must be an absolute http or https URL, with templates such as {id} in its path only and no user, password or fragment`);
  }
  if (query.includes("{")) throw new CallgateError("TOOL_INVALID", `${owner}: the query of url has a template; leave it out, arguments go into the query by their names`);
  return { url, path };
}

/** Of the input, among which those of the path must be. */
function argumentNames(path: string, input: JsonSchema, owner: string): readonly string[] {
  const names = Object.keys((typeof input === "object" ? (input as { readonly properties?: object }).properties : undefined) ?? {});
  for (const [, name = ""] of path.matchAll(/\{([^{}]*)\}/g)) {
    if (!names.includes(name)) throw new CallgateError("TOOL_INVALID", `${owner}: the path has the template {${name}}, and input has no property of that name`);
  }
  return names;
}
