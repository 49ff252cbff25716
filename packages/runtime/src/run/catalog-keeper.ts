import { CallgateError } from "@callgate/contract";
import type { Clock, GateEvent, SearchEmbedding, SearchIndexStore, SecretVault, SourceState } from "@callgate/contract";
import { createCatalog } from "../catalog/catalog.ts";
import type { Catalog, CatalogOptions } from "../catalog/catalog.ts";
import type { KeptTool } from "../catalog/compare-tools.ts";
import type { LearnedOutputs } from "../catalog/learned/learned-outputs.ts";
import { createToolVectors } from "../catalog/search/tool-vectors.ts";
import { createSpecParser } from "../catalog/validation/parse-spec.ts";
import type { SpecParser } from "../catalog/validation/parse-spec.ts";
import type { GateSource } from "./gate-options.ts";
import { createListedSource } from "./listed-source.ts";
import type { ListedSource, SourceTrouble } from "./listed-source.ts";

/** Keeps the catalog in step with its sources. A run holds on to the snapshot it began with. */
export interface CatalogKeeper {
  readonly current: Catalog;
  /** Of the catalog, and of sources that could not be listed. */
  readonly problems: readonly string[];
  /** Resolves when every source has been listed or failed. Never rejects. */
  ready(): Promise<void>;
  /** Namespaces of sources that have neither been listed nor failed yet. */
  readonly missing: readonly string[];
  stateOf(source: GateSource): SourceState;
  /** Why the tools of a source are not known; undefined where they are. */
  troubleOf(source: GateSource): SourceTrouble | undefined;
  /**
   * Lists those again that could not be listed at all; resolves when they have answered or failed. A source spaces its
   * attempts itself, so that this may be asked at every use. Never rejects.
   */
  retry(): Promise<void>;
  /** Resolves once what searches made is kept. */
  close(): Promise<void>;
}

export interface CatalogKeeperOptions {
  readonly sources: readonly GateSource[];
  readonly clock: Clock;
  readonly listTimeoutMs: number;
  readonly secretsFor?: SecretVault["namesFor"] | undefined;
  /** Judges declarations. Default: one of its own, for as long as it lives. */
  readonly specParser?: SpecParser | undefined;
  /** Default: in memory, so that only what a source changed is read again. */
  readonly searchIndex?: SearchIndexStore | undefined;
  /** Searches compare meanings as well. Default: words alone. */
  readonly embedding?: SearchEmbedding | undefined;
  /** Outputs that were learned from answers. Default: none are. */
  readonly learned?: LearnedOutputs | undefined;
  readonly emit: (event: GateEvent) => void;
  /** Hears of every change which tools there are, by namespace, of the sources that could be listed. Must not throw. */
  readonly listedTools?: ((namespace: string, tools: readonly KeptTool[]) => void) | undefined;
}

/** A server that announces ten changes in a row is listed once. */
const debounceMs = 50;

/**
 * Lists all sources in parallel. Sources made of functions are waited for, so that a wrong declaration of the user's own
 * is thrown here; the others may come later.
 *
 * Errors: `CallgateError` TOOL_INVALID, TOOL_DUPLICATE.
 */
export async function createCatalogKeeper(options: CatalogKeeperOptions): Promise<CatalogKeeper> {
  const { sources, clock, listTimeoutMs, secretsFor, specParser = createSpecParser(), searchIndex = memoryIndexStore(), embedding, learned, emit, listedTools } = options;
  const vectors = embedding === undefined ? undefined : createToolVectors(embedding, clock);
  const closing = new AbortController();
  const teller = createStateTeller(clock, emit);
  const listed = sources.map((source): ListedSource => {
    const one: ListedSource = createListedSource(source, { clock, timeoutMs: listTimeoutMs, signal: closing.signal, listed: () => changed(one) });
    return one;
  });
  const snapshot = createSnapshot(listed, { renewed, secretsFor, parser: specParser, searchIndex, vectors, learned });

  function renewed(): void {
    emit({ kind: "catalog-changed", atMs: clock.now(), tools: snapshot.current.tools.length, problems: snapshot.problems });
    if (listedTools !== undefined) tellTools(snapshot.current, listed, listedTools);
  }

  const rebuilds = createRebuilds(snapshot, clock);
  const settled = new Set<ListedSource>();

  function changed(one: ListedSource): void {
    settled.add(one);
    teller.tell(one);
    if (isOpen) rebuilds.soon();
  }

  const own = listed.filter(({ source }) => source.source.kind === "functions");
  const others = listed.filter((one) => !own.includes(one));
  let [isOpen, isReady] = [false, others.length === 0];
  const othersListed = Promise.all(others.map((one) => one.list()));
  await Promise.all(own.map((one) => one.list()));
  snapshot.build();
  isOpen = true;
  const pending = watch(listed, { clock, signal: closing.signal, announced: (one) => teller.tell(one) });
  const whenReady = othersListed.then(() => {
    rebuilds.now();
    isReady = true;
  });

  return {
    get current() {
      return snapshot.current;
    },
    get problems() {
      return snapshot.problems;
    },
    get missing() {
      return isReady ? [] : others.filter((one) => !settled.has(one)).map(({ source }) => source.namespace ?? source.source.namespace);
    },
    ready: () => whenReady,
    stateOf: (source) => (listed.find((one) => one.source === source) ?? { state: source.source.state }).state,
    troubleOf: (source) => listed.find((one) => one.source === source)?.trouble,
    async retry() {
      if (closing.signal.aborted) return;
      await Promise.all(listed.filter((one) => settled.has(one) && one.trouble?.retryAfterMs !== undefined).map((one) => one.retry()));
      rebuilds.now();
    },
    async close() {
      closing.abort(new CallgateError("CLOSED", "The gate was closed"));
      for (const part of [pending, rebuilds]) part.drop();
      learned?.close();
      await vectors?.close();
    },
  };
}

/** A source that could not be listed has no tools that anybody knows of, which is not the same as none. */
function tellTools({ namespaces, tools }: Catalog, listed: readonly ListedSource[], listedTools: NonNullable<CatalogKeeperOptions["listedTools"]>): void {
  const byNamespace = Map.groupBy(tools, ({ namespace }) => namespace);
  for (const { namespace, source } of namespaces) {
    if (listed.find((one) => one.source.source === source)?.isListed !== true) continue;
    listedTools(namespace, (byNamespace.get(namespace) ?? []).map(({ name, declared: spec, definitionDigest, interfaceDigest }) => ({ name, spec, definitionDigest, interfaceDigest })));
  }
}

function memoryIndexStore(): SearchIndexStore {
  let kept: Uint8Array | undefined;
  return {
    read: () => kept,
    write(bytes) {
      kept = bytes;
    },
    damaged: () => undefined,
  };
}

/** Puts a new catalog together when sources have changed. */
interface Rebuilds {
  /** At once where that is quick. Where it is not, others may change meanwhile, and one does for all of them. */
  soon(): void;
  /** If one is due. */
  now(): void;
  drop(): void;
}

/** A small catalog is put together in less. */
const quickMs = 50;
/** Thousands of sources that answer one after the other would each cost all: this part of the time goes into it at most. */
const restFactor = 4;
const longestRestMs = 2_000;

function createRebuilds(snapshot: Snapshot, clock: Clock): Rebuilds {
  let timer: { cancel(): void } | undefined;
  let tookMs = 0;
  const rebuild = (): void => {
    timer?.cancel();
    timer = undefined;
    const startedMs = performance.now();
    snapshot.rebuild();
    tookMs = performance.now() - startedMs;
  };
  return {
    soon() {
      if (timer !== undefined) return;
      if (tookMs < quickMs) rebuild();
      else timer = clock.schedule(Math.min(restFactor * tookMs, longestRestMs), rebuild);
    },
    now() {
      if (timer !== undefined) rebuild();
    },
    drop() {
      timer?.cancel();
      timer = undefined;
    },
  };
}

interface Snapshot {
  readonly current: Catalog;
  readonly problems: readonly string[];
  /** Throws for a wrong declaration of the user's own. */
  build(): void;
  /** A wrong declaration keeps the last good catalog and is told in `problems`. */
  rebuild(): void;
}

function createSnapshot(listed: readonly ListedSource[], { renewed, ...how }: { readonly renewed: () => void } & CatalogOptions): Snapshot {
  let current = createCatalog(listed.map(({ source }) => ({ ...source, listing: { tools: [], problems: [] } })), how);
  let broken: string | undefined;

  function build(): void {
    const next = createCatalog(listed.map(({ source, listing }) => ({ ...source, listing })), how);
    broken = undefined;
    const isSame = next.digest === current.digest && next.problems.join() === current.problems.join();
    if (isSame) return;
    current = next;
    renewed();
  }

  return {
    get current() {
      return current;
    },
    get problems() {
      return [...listed.flatMap(({ failure }) => failure ?? []), ...(broken === undefined ? [] : [broken]), ...current.problems];
    },
    build,
    rebuild() {
      try {
        build();
      } catch (fault) {
        broken = fault instanceof Error ? fault.message : String(fault);
      }
    },
  };
}

/** Says each new state of a source once. */
function createStateTeller(clock: Clock, emit: (event: GateEvent) => void): { tell(one: ListedSource): void } {
  const told = new Map<ListedSource, string>();
  return {
    tell(one) {
      const { source, state } = one;
      const text = JSON.stringify(state);
      if (told.get(one) === text) return;
      told.set(one, text);
      emit({ kind: "source-changed", atMs: clock.now(), namespace: source.namespace ?? source.source.namespace, state });
    },
  };
}

interface Watching {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly announced: (one: ListedSource) => void;
}

/** Lists a source again a moment after it said that it changed. */
function watch(listed: readonly ListedSource[], { clock, signal, announced }: Watching): { drop(): void } {
  const timers = new Map<ListedSource, { cancel(): void }>();
  for (const one of listed) {
    one.source.source.onChange(() => {
      if (signal.aborted) return;
      announced(one);
      timers.get(one)?.cancel();
      timers.set(one, clock.schedule(debounceMs, () => {
        timers.delete(one);
        one.list().catch(() => undefined); // It never rejects.
      }));
    });
  }
  return {
    drop() {
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
    },
  };
}
