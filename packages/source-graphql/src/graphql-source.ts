import { resolve } from "node:path";
import { CallgateError, ToolError } from "@callgate/contract";
import type { Clock, Source, SourceListing, SourceProblem, SourceState, ToolContext } from "@callgate/contract";
import { createCredentials, createFetch, createHttpClient, noticeReach, originOf } from "@callgate/http-client";
import type { AuthSpec, Reach } from "@callgate/http-client";
import { fieldTools, rawQueryName } from "./convert/field-tools.ts";
import type { FieldTool } from "./convert/field-tools.ts";
import { listed, rawTool } from "./graphql-tools.ts";
import { callField, callRaw } from "./request/call-service.ts";
import type { GraphqlService } from "./request/send-request.ts";
import { createSchemaStore } from "./schema/schema-store.ts";
import type { SchemaStore, StoredSchema } from "./schema/schema-store.ts";

/** A GraphQL service. */
export interface GraphqlSourceOptions {
  /** Module name for its tools, before the naming rule. */
  readonly namespace: string;
  /** http(s) URL that requests are posted to. It may be private: it is the user's word. */
  readonly endpoint: string;
  /** Path of the schema: SDL, or the JSON of an introspection. Default: the service is asked. */
  readonly schema?: string;
  /** Where a relative path starts. Default: the working directory. */
  readonly folder?: string;
  /** In full, or the reference of a bearer token. */
  readonly auth?: AuthSpec | string;
  /** Reads what `auth` refers to. Throws `CallgateError` CONFIG_INVALID naming what is missing. Default: no reference can be read. */
  readonly readSecret?: (reference: string) => string;
  readonly purpose?: string;
  /** Levels of objects within objects that a call asks for by itself. Default 2. */
  readonly depth?: number;
  /** Where the service's schema is kept, so that a start asks nothing. Default: nowhere. */
  readonly cacheFolder?: string;
  /** How old the schema that the service told may get before it is asked again. Default a day. */
  readonly refreshMs?: number;
  /** Deadline of one call, as `ToolSpec.timeoutMs`. Default 60,000. */
  readonly callTimeoutMs?: number;
  readonly clock: Clock;
}

interface Loaded extends StoredSchema {
  readonly tools: ReadonlyMap<string, FieldTool>;
}

/**
 * Makes a GraphQL service a source: each field of its query and mutation types is a tool, and `query` takes a whole query.
 * Nothing is asked before the first use. That a query only reads is the service's own word, as GraphQL has it: it counts
 * once the user trusts the source. That only queries go out through `query` is made sure here, by parsing them.
 */
export function createGraphqlSource(options: GraphqlSourceOptions): Source {
  const { namespace, callTimeoutMs = 60_000 } = options;
  const { service, problem, close } = openService(options);
  const store = createSchemaStore({ file: options.schema === undefined ? undefined : resolve(options.folder ?? process.cwd(), options.schema), service, cacheFolder: options.cacheFolder, refreshMs: options.refreshMs ?? dayMs, now: () => options.clock.now() });
  const cell: Cell = { state: { kind: "connecting" }, loaded: undefined, closed: false, listener: () => undefined, unreached: undefined };
  const load = createLoader(options, { cell, store });
  const loaded = async (signal: AbortSignal): Promise<Loaded> =>
    cell.loaded ?? (await load(signal).catch((fault: unknown) => {
      signal.throwIfAborted();
      throw new ToolError({ code: "SOURCE_UNAVAILABLE", message: `${namespace} cannot be called: its schema cannot be read`, retryable: !cell.closed, notApplied: true, cause: fault });
    }));
  const call = async (name: string, args: unknown, context: ToolContext): Promise<unknown> => {
    if (cell.closed) throw new ToolError({ code: "SOURCE_UNAVAILABLE", message: `${namespace} was closed`, notApplied: true });
    const { tools, schema } = await loaded(context.signal);
    const given = (args ?? {}) as Readonly<Record<string, unknown>>;
    if (name === rawQueryName) return await noticeReach(cell, () => callRaw(service(), given, { schema, context }));
    const tool = tools.get(name);
    if (tool === undefined) throw new ToolError({ code: "TOOL_NOT_FOUND", message: `${namespace} has no field "${name}"`, notApplied: true });
    return await noticeReach(cell, () => callField(service(), { tool, args: given }, { schema, context }));
  };
  return {
    namespace,
    kind: "graphql",
    get purpose() {
      return options.purpose ?? cell.loaded?.schema.description ?? undefined;
    },
    get state(): SourceState {
      if (cell.state.kind !== "ready") return cell.state;
      const reason = problem();
      if (reason !== undefined) return { kind: "auth_needed", reason };
      return cell.unreached === undefined ? cell.state : { kind: "degraded", reason: `its service could not be reached: ${cell.unreached}` };
    },
    async list(signal): Promise<SourceListing> {
      const { tools, schema, stale } = await load(signal);
      const problems: readonly SourceProblem[] = stale === undefined ? [] : [{ message: `the schema cannot be read now; the last one that could be goes on (${stale})` }];
      return { tools: [...[...tools.values()].map((tool) => listed(tool, { schema, callTimeoutMs, call })), rawTool({ schema, callTimeoutMs, call })], problems };
    },
    call,
    onChange: (listener) => {
      cell.listener = listener;
    },
    async close() {
      if (cell.closed) return;
      cell.closed = true;
      cell.state = { kind: "down", reason: "closed" };
      await close();
    },
  };
}

const dayMs = 86_400_000;
/** How soon a service is asked for its schema again that could not be had. */
const retryMs = 5_000;
const defaultDepth = 2;

function openService({ namespace, endpoint, auth, readSecret, callTimeoutMs = 60_000, clock }: GraphqlSourceOptions): { readonly service: () => GraphqlService; readonly problem: () => string | undefined; readonly close: () => Promise<void> } {
  const spec: AuthSpec | undefined = typeof auth === "string" ? { kind: "bearer", token: auth } : auth;
  const namedOrigins = [originOf(endpoint), ...(spec?.kind === "oauth2" ? [originOf(spec.tokenUrl)] : [])];
  const client = createHttpClient({ namedOrigins, bounds: { firstByteMs: callTimeoutMs, totalMs: callTimeoutMs } });
  const read = readSecret ?? ((): never => {
    throw new CallgateError("CONFIG_INVALID", `The source "${namespace}" has auth and nothing that reads secrets (readSecret)`);
  });
  const credentials = spec === undefined ? undefined : createCredentials([spec], { origins: [endpoint], read, fetch: createFetch(client), clock });
  const service: GraphqlService = { client, endpoint: new URL(endpoint), ...(credentials === undefined ? {} : { credentials }) };
  return { service: () => service, problem: () => credentials?.problem(), close: () => client.close() };
}

/** What changes while a source lives. */
interface Cell extends Reach {
  state: SourceState;
  loaded: Loaded | undefined;
  closed: boolean;
  listener: () => void;
}

/** Loads once for all who ask. Errors: `CallgateError` SOURCE_FAILED; the reason of the signal when that aborts. */
function createLoader({ namespace, endpoint, depth = defaultDepth }: GraphqlSourceOptions, { cell, store }: { readonly cell: Cell; readonly store: SchemaStore }): (signal: AbortSignal) => Promise<Loaded> {
  let flight: Promise<Loaded> | undefined;
  const setState = (state: SourceState): void => {
    const isNew = JSON.stringify(state) !== JSON.stringify(cell.state);
    if (cell.closed) return;
    cell.state = state;
    if (isNew) cell.listener();
  };
  const load = async (): Promise<Loaded> => {
    try {
      const stored = await store.get(new AbortController().signal);
      const tools = cell.loaded?.schema === stored.schema ? cell.loaded.tools : new Map(fieldTools(stored.schema, depth).map((tool) => [tool.name, tool]));
      cell.loaded = { ...stored, tools };
      setState(stored.stale === undefined ? { kind: "ready" } : { kind: "degraded", reason: `the schema cannot be read now; the last one that could be goes on: ${stored.stale}` });
      return cell.loaded;
    } catch (fault) {
      const reason = `its schema cannot be used (${endpoint}): ${fault instanceof Error ? fault.message : String(fault)}`;
      setState({ kind: "down", reason, brief: "its schema cannot be read", retryAfterMs: retryMs });
      throw new CallgateError("SOURCE_FAILED", `The source "${namespace}" has no tools: ${reason}`, { cause: fault, details: { namespace, brief: "its schema cannot be read" } });
    }
  };
  return async (signal) => {
    signal.throwIfAborted();
    if (cell.closed) throw new CallgateError("SOURCE_FAILED", `The source "${namespace}" was closed`, { details: { namespace, brief: "it was closed" } });
    flight ??= load().finally(() => (flight = undefined));
    return await untilAborted(flight, signal);
  };
}

function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((done, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(done, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
