import { dirname } from "node:path";
import { CallgateError, ToolError } from "@callgate/contract";
import type { Clock, Source, SourceListing, SourceProblem, SourceState, SourceTool, Tool, ToolContext } from "@callgate/contract";
import { noticeReach } from "@callgate/http-client";
import type { Reach } from "@callgate/http-client";
import type { ConvertedTool } from "./convert/convert-operation.ts";
import { createDocumentCache } from "./document/document-cache.ts";
import { createDocumentReader, isUrl, locationOf } from "./document/document-reader.ts";
import type { FetchText } from "./document/document-reader.ts";
import { createDocumentStore } from "./document/document-store.ts";
import type { DocumentStore, StoredDocument } from "./document/document-store.ts";
import { stampOf } from "./document/file-stamp.ts";
import { watchParts } from "./document/watch-parts.ts";
import type { PartsWatch } from "./document/watch-parts.ts";
import { callOperation, operationRetry } from "./request/call-operation.ts";
import type { ServiceFinder } from "./service-finder.ts";

export interface DocumentSourceOptions {
  readonly namespace: string;
  readonly document: string;
  readonly folder: string;
  readonly purpose?: string | undefined;
  readonly cacheFolder?: string | undefined;
  readonly refreshMs: number;
  readonly callTimeoutMs: number;
  readonly clock: Clock;
  readonly fetchText: FetchText;
  readonly services: ServiceFinder;
  /** Ends the connections of all this. */
  readonly release: () => Promise<void>;
}

/** What changes while a source lives. */
interface Cell extends Reach {
  state: SourceState;
  closed: boolean;
  current: StoredDocument | undefined;
  byName: ReadonlyMap<string, ConvertedTool>;
  listener: () => void;
}

/** A document as a source; what calls its operations is given. */
export function documentSource(options: DocumentSourceOptions): Source {
  const { namespace, document, folder, fetchText, services, clock, refreshMs } = options;
  const location = locationOf(document, folder);
  const read = createDocumentReader(location, { folders: isUrl(location) ? [] : [dirname(location), folder], fetchText });
  const store = createDocumentStore({ location, read, cache: createDocumentCache(options.cacheFolder), refreshMs, now: () => clock.now() });
  const cell: Cell = { state: { kind: "connecting" }, closed: false, current: undefined, byName: new Map(), listener: () => undefined, unreached: undefined };
  const watch = watchParts({ clock, refreshMs, onChange: () => cell.listener() });
  const opener = createOpener(options, { cell, store, watch });

  const call = async (name: string, args: unknown, context: ToolContext): Promise<unknown> => {
    if (cell.closed) throw new ToolError({ code: "SOURCE_UNAVAILABLE", message: `${namespace} cannot be called: it was closed`, notApplied: true });
    if (cell.current === undefined) await opener.open(context.signal).catch((cause: unknown) => {
      context.signal.throwIfAborted();
      throw new ToolError({ code: "SOURCE_UNAVAILABLE", message: `${namespace} cannot be called: ${unreadable}`, retryable: isUrl(location), notApplied: true, cause });
    });
    const tool = cell.byName.get(name);
    if (tool === undefined) throw new ToolError({ code: "TOOL_NOT_FOUND", message: `The document of ${namespace} has no operation "${name}"`, notApplied: true });
    const service = services.serviceOf(tool.operation, cell.current?.converted.securitySchemes ?? {});
    return await noticeReach(cell, () => callOperation(service, { operation: tool.operation, args, context, ...(tool.paging === undefined ? {} : { paging: tool.paging }) }));
  };

  return {
    namespace,
    kind: "openapi",
    get purpose() {
      return options.purpose ?? cell.current?.converted.purpose;
    },
    get state(): SourceState {
      if (cell.state.kind !== "ready") return cell.state;
      const problem = services.problem();
      if (problem !== undefined) return { kind: "auth_needed", reason: problem };
      return cell.unreached === undefined ? cell.state : { kind: "degraded", reason: `its service could not be reached: ${cell.unreached}` };
    },
    async list(signal): Promise<SourceListing> {
      const { converted, stale } = await opener.open(signal);
      const toTool = (one: ConvertedTool): SourceTool => ({ tool: toolOf(one, { timeoutMs: options.callTimeoutMs, call }), claimed: true });
      const problems: readonly SourceProblem[] = stale === undefined ? [] : [{ message: `the document cannot be read now; the last one that could be goes on (${stale})` }];
      return { tools: converted.tools.map(toTool), problems: [...problems, ...converted.problems] };
    },
    call,
    onChange: (listener) => {
      cell.listener = listener;
    },
    async close() {
      if (cell.closed) return;
      cell.closed = true;
      watch.close();
      opener.close();
      cell.state = { kind: "down", reason: "closed" };
      await options.release();
    },
  };
}

/** What a model is told. */
const unreadable = "its document cannot be read";
/** How soon a document from a URL is asked for again that could not be had. */
const retryMs = 5_000;

function createOpener({ namespace, document, folder }: DocumentSourceOptions, { cell, store, watch }: { readonly cell: Cell; readonly store: DocumentStore; readonly watch: PartsWatch }): Opener {
  const closing = new AbortController();
  let flight: Promise<StoredDocument> | undefined;
  const setState = (state: SourceState): void => {
    const isNew = JSON.stringify(state) !== JSON.stringify(cell.state);
    if (cell.closed) return;
    cell.state = state;
    if (isNew) cell.listener();
  };
  const load = async (): Promise<StoredDocument> => {
    const location = locationOf(document, folder);
    const stamp = await stampOf(location);
    try {
      const stored = await store.get(closing.signal);
      if (cell.closed) throw new Error("the source was closed");
      if (stored.converted !== cell.current?.converted) cell.byName = new Map(stored.converted.tools.map((tool) => [tool.spec.name, tool]));
      cell.current = stored;
      watch.set(stored.parts);
      setState(stored.stale === undefined ? { kind: "ready" } : { kind: "degraded", reason: `${document} cannot be read now; the last one that could be goes on: ${stored.stale}` });
      return stored;
    } catch (fault) {
      const reason = `its document ${document} cannot be used: ${fault instanceof Error ? fault.message : String(fault)}`;
      // Looked at again by itself, once it has changed or may have.
      if (!cell.closed) watch.set([{ location, stamp }]);
      setState({ kind: "down", reason, brief: unreadable, retryAfterMs: isUrl(document) ? retryMs : 0 });
      throw new CallgateError("SOURCE_FAILED", `The source "${namespace}" has no tools: ${reason}`, { cause: fault, details: { namespace, brief: unreadable } });
    }
  };
  return {
    async open(signal) {
      signal.throwIfAborted();
      if (cell.closed) throw new CallgateError("SOURCE_FAILED", `The source "${namespace}" was closed`, { details: { namespace, brief: "it was closed" } });
      // Once for all who ask; one who gives up leaves it to the others.
      flight ??= load().finally(() => (flight = undefined));
      return await untilAborted(flight, signal);
    },
    close: () => closing.abort(new Error("The source was closed")),
  };
}

interface Opener {
  /** Errors: `CallgateError` SOURCE_FAILED; the reason of `signal` when that aborts. */
  open(signal: AbortSignal): Promise<StoredDocument>;
  close(): void;
}

function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function toolOf({ spec }: ConvertedTool, { timeoutMs, call }: { readonly timeoutMs: number; readonly call: Source["call"] }): Tool {
  return {
    ...spec,
    permissions: [],
    labels: [],
    // Not the document's own, which counts with every change of any operation: each would be another definition.
    version: "0.0.0",
    timeoutMs,
    // Repeated only where the failure says that it may be.
    retry: operationRetry,
    handler: (args, context) => call(spec.name, args, context),
  };
}
