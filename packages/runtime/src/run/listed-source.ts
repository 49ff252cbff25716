import { CallgateError } from "@callgate/contract";
import type { Clock, SourceListing, SourceState } from "@callgate/contract";
import { race } from "../lib/race.ts";
import { replaceControls } from "../lib/replace-controls.ts";
import type { Raced } from "../lib/race.ts";
import type { GateSource } from "./gate-options.ts";

/** A source and what it listed last. */
export interface ListedSource {
  readonly source: GateSource;
  /** Empty until the first listing. */
  readonly listing: SourceListing;
  /** Whether there was one. */
  readonly isListed: boolean;
  /** Why it could not be listed, the last time. */
  readonly failure: string | undefined;
  readonly state: SourceState;
  /** Why its tools are not known, in words that may reach a model. Undefined once it was listed: then they are as last seen. */
  readonly trouble: SourceTrouble | undefined;
  /** Lists once more. While one listing is under way, any number of calls add one more after it. Never rejects. */
  list(): Promise<void>;
  /** Lists once more, unless a listing is under way: then that one is waited for. Never rejects. */
  retry(): Promise<void>;
}

export interface SourceTrouble {
  /** A clause: `is down: ...`. */
  readonly what: string;
  /** When a use tries again, counted from the failure. Absent: no use does. */
  readonly retryAfterMs?: number;
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
  let brief: string | undefined;
  let busy: Promise<void> | undefined;
  let again = false;

  async function listAll(): Promise<void> {
    do {
      again = false;
      const end = await race((inner) => source.source.list(inner.signal), { clock, timeoutMs, signal });
      if (signal.aborted) return;
      if (end.kind === "value") listing = end.value;
      failure = failureOf(end, source.namespace ?? source.source.namespace, timeoutMs);
      // Remembered: while it is tried again, its state is no longer that of the failure.
      const { state } = source.source;
      brief = (end.kind === "threw" && state.kind === "down" ? state.brief : undefined) ?? briefOf(end, timeoutMs);
      listed();
    } while (again);
  }

  const self: ListedSource = {
    source,
    get listing() {
      return listing ?? { tools: [], problems: [] };
    },
    get isListed() {
      return listing !== undefined;
    },
    get failure() {
      return failure;
    },
    get state(): SourceState {
      const { state } = source.source;
      if (failure === undefined || (state.kind !== "ready" && state.kind !== "connecting" && state.kind !== "idle")) return state;
      return listing === undefined ? { kind: "down", reason: failure } : { kind: "degraded", reason: failure };
    },
    get trouble() {
      return listing === undefined ? troubleOf(source.source.state, brief) : undefined;
    },
    async list() {
      again = true;
      busy ??= listAll().finally(() => {
        busy = undefined;
      });
      await busy;
    },
    retry: () => busy ?? self.list(),
  };
  return self;
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

/** What may be told to a model: a source tells people more (commands, folders, what a server printed). */
function briefOf(end: Raced<SourceListing>, timeoutMs: number): string | undefined {
  switch (end.kind) {
    case "value":
      return undefined;
    case "threw": {
      const brief = CallgateError.is(end.error) ? end.error.details["brief"] : undefined;
      return typeof brief === "string" ? brief : "it could not say which tools it has";
    }
    case "timed_out":
      return `it did not say within ${timeoutMs / 1000} s which tools it has`;
    case "cancelled":
      return "it was not waited for";
  }
}

/** `brief` is undefined until the first listing is over. */
function troubleOf(state: SourceState, brief: string | undefined): SourceTrouble {
  if (state.kind === "auth_needed") return { what: `needs somebody to sign in: ${oneLine(state.reason)}`, ...(state.retryAfterMs === undefined ? {} : { retryAfterMs: state.retryAfterMs }) };
  if (state.kind === "down") return { what: `is down: ${oneLine(brief ?? state.brief ?? state.reason)}`, ...(state.retryAfterMs === undefined ? {} : { retryAfterMs: state.retryAfterMs }) };
  return brief === undefined ? { what: "is still being connected", retryAfterMs: 1_000 } : { what: `is down: ${oneLine(brief)}`, retryAfterMs: 0 };
}

const maxReasonChars = 300;

function oneLine(text: string): string {
  const line = replaceControls(text.replace(/\s+/g, " ").trim(), () => "?").replace(/[.]+$/, "");
  return line.length > maxReasonChars ? `${line.slice(0, maxReasonChars).toWellFormed()}…` : line;
}
