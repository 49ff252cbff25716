import { CallgateError } from "@callgate/contract";
import type { Clock, GateEvent, SourceListing, SourceState } from "@callgate/contract";
import { createCatalog } from "../catalog/catalog.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { race } from "../lib/race.ts";
import type { GateSource } from "./gate-options.ts";

/** Keeps the catalog in step with its sources. A run holds on to the snapshot it began with. */
export interface CatalogKeeper {
  readonly current: Catalog;
  /** Of the catalog, and of sources that could not be listed. */
  readonly problems: readonly string[];
  /** Resolves when every source has been listed or failed. Never rejects. */
  ready(): Promise<void>;
  readonly isReady: boolean;
  stateOf(source: GateSource): SourceState;
  close(): void;
}

export interface CatalogKeeperOptions {
  readonly sources: readonly GateSource[];
  readonly clock: Clock;
  readonly listTimeoutMs: number;
  emit(event: GateEvent): void;
}

/** A server that announces ten changes in a row is listed once. */
const debounceMs = 50;

interface Listed {
  readonly source: GateSource;
  listing: SourceListing | undefined;
  failure: string | undefined;
  told: string;
  busy: boolean;
  again: boolean;
}

/**
 * Lists all sources in parallel. Sources made of functions are waited for, so that a wrong declaration of the user's own
 * is thrown here; the others may come later.
 *
 * Errors: `CallgateError` TOOL_INVALID, TOOL_DUPLICATE.
 */
export async function createCatalogKeeper({ sources, clock, listTimeoutMs, emit }: CatalogKeeperOptions): Promise<CatalogKeeper> {
  const closing = new AbortController();
  const all: Listed[] = sources.map((source) => ({ source, listing: undefined, failure: undefined, told: "", busy: false, again: false }));
  const timers = new Set<{ cancel(): void }>();
  let current = createCatalog(all.map(({ source }) => ({ ...source, listing: { tools: [], problems: [] } })));
  let broken: string | undefined;
  let isReady = false;

  async function list(one: Listed): Promise<void> {
    const { source } = one.source;
    const listed = await race((signal) => source.list(signal), { clock, timeoutMs: listTimeoutMs, signal: closing.signal });
    if (closing.signal.aborted) return;
    if (listed.kind === "value") one.listing = listed.value;
    one.failure = failureOf(listed, source.namespace, listTimeoutMs);
    tellState(one);
  }

  function tellState(one: Listed): void {
    const state = stateOf(one);
    const told = JSON.stringify(state);
    if (told === one.told) return;
    one.told = told;
    emit({ kind: "source-changed", atMs: clock.now(), namespace: one.source.namespace ?? one.source.source.namespace, state });
  }

  function build(): void {
    const next = createCatalog(all.map(({ source, listing }) => ({ ...source, listing: listing ?? { tools: [], problems: [] } })));
    broken = undefined;
    if (next.digest === current.digest && next.problems.join() === current.problems.join()) return;
    current = next;
    emit({ kind: "catalog-changed", atMs: clock.now(), tools: next.tools.length, problems: problems() });
  }

  /** Later a wrong declaration keeps the last good catalog. */
  function rebuild(): void {
    try {
      build();
    } catch (fault) {
      broken = fault instanceof Error ? fault.message : String(fault);
    }
  }

  function problems(): readonly string[] {
    return [...all.flatMap(({ failure }) => failure ?? []), ...(broken === undefined ? [] : [broken]), ...current.problems];
  }

  async function relist(one: Listed): Promise<void> {
    if (one.busy) {
      one.again = true;
      return;
    }
    one.busy = true;
    do {
      one.again = false;
      await list(one);
      if (!closing.signal.aborted) rebuild();
    } while (one.again && !closing.signal.aborted);
    one.busy = false;
  }

  function changed(one: Listed): void {
    if (closing.signal.aborted) return;
    tellState(one);
    const timer = clock.schedule(debounceMs, () => {
      timers.delete(timer);
      relist(one).catch(() => undefined); // `race` and `rebuild` do not throw.
    });
    for (const other of timers) if (pending.get(other) === one) drop(other);
    timers.add(timer);
    pending.set(timer, one);
  }

  const pending = new WeakMap<object, Listed>();
  function drop(timer: { cancel(): void }): void {
    timer.cancel();
    timers.delete(timer);
  }

  for (const one of all) one.source.source.onChange(() => changed(one));
  const own = all.filter(({ source }) => source.source.kind === "functions");
  const others = all.filter((one) => !own.includes(one));
  const listing = Promise.all(others.map(relist));
  await Promise.all(own.map(list));
  build();
  const whenReady = listing.then(() => {
    isReady = true;
  });
  if (others.length === 0) isReady = true;

  return {
    get current() {
      return current;
    },
    get problems() {
      return problems();
    },
    get isReady() {
      return isReady;
    },
    ready: () => whenReady,
    stateOf: (source) => {
      const one = all.find((listed) => listed.source === source);
      return one === undefined ? source.source.state : stateOf(one);
    },
    close() {
      closing.abort(new CallgateError("CLOSED", "The gate was closed"));
      for (const timer of timers) drop(timer);
    },
  };
}

function stateOf({ source, failure, listing }: Listed): SourceState {
  const { state } = source.source;
  if (failure === undefined) return state;
  return state.kind === "ready" || state.kind === "connecting" ? { kind: listing === undefined ? "down" : "degraded", reason: failure } : state;
}

function failureOf(listed: Awaited<ReturnType<typeof race<SourceListing>>>, namespace: string, timeoutMs: number): string | undefined {
  switch (listed.kind) {
    case "value":
      return undefined;
    case "threw":
      return `${namespace}: ${listed.error instanceof Error ? listed.error.message : String(listed.error)}`;
    case "timed_out":
      return `${namespace}: the source did not list its tools within ${timeoutMs} ms; its tools are missing until it answers`;
    case "cancelled":
      return `${namespace}: listing was cancelled`;
  }
}
