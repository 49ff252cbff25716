import type { Clock, SourceListing, SourceState } from "@callgate/contract";
import { race } from "../lib/race.ts";
import type { Raced } from "../lib/race.ts";
import type { GateSource } from "./gate-options.ts";

/** A source and what it listed last. */
export interface ListedSource {
  readonly source: GateSource;
  /** Empty until the first listing. */
  readonly listing: SourceListing;
  /** Why it could not be listed, the last time. */
  readonly failure: string | undefined;
  readonly state: SourceState;
  /** Lists once more. While one listing is under way, any number of calls add one more after it. Never rejects. */
  list(): Promise<void>;
}

export interface ListedSourceOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** After each listing. Must not throw. */
  readonly listed: () => void;
}

export function createListedSource(source: GateSource, { clock, timeoutMs, signal, listed }: ListedSourceOptions): ListedSource {
  let listing: SourceListing | undefined;
  let failure: string | undefined;
  let busy: Promise<void> | undefined;
  let again = false;

  async function listAll(): Promise<void> {
    do {
      again = false;
      const end = await race((inner) => source.source.list(inner.signal), { clock, timeoutMs, signal });
      if (signal.aborted) return;
      if (end.kind === "value") listing = end.value;
      failure = failureOf(end, source.namespace ?? source.source.namespace, timeoutMs);
      listed();
    } while (again);
  }

  return {
    source,
    get listing() {
      return listing ?? { tools: [], problems: [] };
    },
    get failure() {
      return failure;
    },
    get state(): SourceState {
      const { state } = source.source;
      if (failure === undefined || (state.kind !== "ready" && state.kind !== "connecting")) return state;
      return listing === undefined ? { kind: "down", reason: failure } : { kind: "degraded", reason: failure };
    },
    async list() {
      again = true;
      busy ??= listAll().finally(() => {
        busy = undefined;
      });
      await busy;
    },
  };
}

function failureOf(end: Raced<SourceListing>, namespace: string, timeoutMs: number): string | undefined {
  switch (end.kind) {
    case "value":
      return undefined;
    case "threw":
      return `${namespace}: ${end.error instanceof Error ? end.error.message : String(end.error)}`;
    case "timed_out":
      return `${namespace}: the source did not list its tools within ${timeoutMs} ms; its tools are missing until it answers`;
    case "cancelled":
      return `${namespace}: listing was cancelled`;
  }
}
