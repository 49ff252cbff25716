import { CallgateError, ToolError } from "@callgate/contract";
import type { Clock, Digest, PinnedTool, PinStore, Source, SourceListing, SourceNotices, SourcePassThrough, SourcePins, SourceState, Tool, ToolContext } from "@callgate/contract";
import { createLazyNotices } from "./lazy-notices.ts";
import type { LazyNotices } from "./lazy-notices.ts";
import { comparePins, firstPins, listingOf, pinOf, pinProblems, usableNames } from "./pinned-tools.ts";

export interface PinSourceOptions {
  readonly namespace: string;
  readonly kind: string;
  /** Of what is started or reached: changes with command, arguments and URL. */
  readonly identity: Digest;
  /** Absent: nothing is pinned, every list of the source counts as it comes. */
  readonly pins?: PinStore;
  /** Makes the source at its first use. */
  readonly open: () => Promise<Source>;
  /** Deadline of one call, where the user says one. */
  readonly timeoutMs?: number;
  /** Asks the source for its tools even where they are pinned. Default false: it is asked at its first call. */
  readonly isEager?: boolean;
  readonly clock: Clock;
}

/**
 * A source whose tools are those that a person let it have. What it lists at its first use is pinned; a tool that is new or
 * has changed since is held: not listed, and calls of it are refused before they leave, until somebody approves it.
 *
 * Where there are pins they are the list, and the source is opened at its first call: a process starts no server that it
 * does not call. Then its real list is held against the pins before the call is made, and again whenever it says that its
 * list has changed or it was connected anew.
 */
export function pinSource(options: PinSourceOptions): Source {
  const { namespace, kind, pins } = options;
  // What is opened later is found by then.
  const cell: Cell = { opened: undefined, inner: undefined, isClosed: false, listener: () => undefined, notices: createLazyNotices(() => check.open()) };
  const check = createCheck(options, cell);
  const stopWatching = pins?.watch(() => cell.listener()) ?? (() => undefined);
  const call = createCall(options, check);
  const listPinned = (known: SourcePins): SourceListing => listingOf(known, (pinned) => pinnedTool(pinned, options.timeoutMs, call));
  return {
    namespace,
    kind,
    get purpose() {
      return cell.inner?.purpose ?? readable(pins).pins?.purpose;
    },
    get state(): SourceState {
      if (cell.isClosed) return { kind: "down", reason: "closed" };
      const { pins: known, fault } = readable(pins);
      if (fault !== undefined) return { kind: "down", reason: fault, brief: "its record of approved tools cannot be read" };
      return cell.inner?.state ?? { kind: known === undefined ? "connecting" : "idle" };
    },
    async list(signal) {
      const known = pins?.read();
      if (known !== undefined && known.identity === options.identity && cell.opened === undefined && options.isEager !== true) return listPinned(known);
      try {
        return await check.list(signal);
      } catch (error) {
        // What it has is known all the same; its state says that it cannot be reached.
        signal.throwIfAborted();
        if (known === undefined || options.isEager === true || cell.isClosed) throw error;
        return listPinned(known);
      }
    },
    call,
    onChange: (fire) => {
      cell.listener = fire;
    },
    async close() {
      cell.isClosed = true;
      stopWatching();
      const inner = await cell.opened?.catch(() => undefined);
      await inner?.close();
    },
    passThrough: lazyPassThrough(check, pins, cell.notices),
  };
}

function createCall({ namespace, pins }: PinSourceOptions, check: Check): Source["call"] {
  return async (name, args, context) => {
    const inner = await check.upToDate(context.signal).catch((error: unknown) => {
      throw notReached(error);
    });
    const known = pins?.read();
    if (known !== undefined && !usableNames(known).has(name)) {
      const [problem] = pinProblems(known).filter(({ tool }) => tool === undefined || tool === name);
      throw new ToolError({ code: "TOOL_HELD", message: `The tool "${name}" of "${namespace}" was not called: ${problem?.message ?? "it is not among those that were approved"}`, notApplied: true, details: { source: namespace } });
    }
    return await inner.call(name, args, context);
  };
}

/** A tool made of its pin. What it declares was checked when it was pinned, by whoever listed it. */
function pinnedTool({ definition, name }: PinnedTool, ownTimeoutMs: number | undefined, call: Source["call"]): Tool {
  const timeoutMs = ownTimeoutMs ?? definition["timeoutMs"];
  return { ...definition, ...(timeoutMs === undefined ? {} : { timeoutMs }), handler: (args: unknown, context: ToolContext) => call(name, args, context) } as unknown as Tool;
}

/** Pins that are damaged are told as a state: who asks for it cannot be thrown at. */
function readable(pins: PinStore | undefined): { readonly pins?: SourcePins | undefined; readonly fault?: string } {
  try {
    return { pins: pins?.read() };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

interface Cell {
  opened: Promise<Source> | undefined;
  inner: Source | undefined;
  isClosed: boolean;
  listener: () => void;
  readonly notices: LazyNotices;
}

interface Check {
  open(): Promise<Source>;
  /** Lists for real and holds it against the pins. */
  list(signal: AbortSignal): Promise<SourceListing>;
  /** The source, after its list was looked at since it last changed. */
  upToDate(signal: AbortSignal): Promise<Source>;
}

function createCheck({ namespace, identity, pins, open: make, clock }: PinSourceOptions, cell: Cell): Check {
  /** The list was not looked at since it may have changed. */
  let isStale = true;
  let listing = 0;
  let stateKind: SourceState["kind"] | undefined;

  function changed(inner: Source): void {
    const isState = inner.state.kind !== stateKind;
    stateKind = inner.state.kind;
    // Connecting is part of listing. Everything else that changes may have changed the tools.
    if (!isState || listing === 0) isStale = true;
    cell.listener();
  }

  function open(): Promise<Source> {
    if (cell.isClosed) return Promise.reject(new CallgateError("SOURCE_FAILED", `The source "${namespace}" was closed`, { details: { namespace, brief: "it was closed" } }));
    cell.opened ??= make().then((inner) => {
      cell.inner = inner;
      stateKind = inner.state.kind;
      inner.onChange(() => changed(inner));
      cell.notices.opened(inner);
      return inner;
    });
    return cell.opened;
  }

  async function list(signal: AbortSignal): Promise<SourceListing> {
    const inner = await open();
    listing += 1;
    isStale = false;
    try {
      const live = await inner.list(signal);
      stateKind = inner.state.kind;
      return pins === undefined ? live : againstPins(live, inner, pins);
    } catch (error) {
      isStale = true;
      throw error;
    } finally {
      listing -= 1;
    }
  }

  function againstPins(live: SourceListing, inner: Source, store: PinStore): SourceListing {
    const atMs = clock.now();
    const seen = { namespace, identity, purpose: inner.purpose ?? "", tools: live.tools.flatMap((tool) => pinOf(tool, atMs) ?? []) };
    const before = store.read();
    const after = before === undefined ? firstPins(seen) : comparePins(before, seen);
    if (JSON.stringify(before) !== JSON.stringify(after)) store.update((now) => (now === undefined ? firstPins(seen) : comparePins(now, seen)));
    const usable = usableNames(after);
    const tools = live.tools.filter(({ tool }) => usable.has(tool.name)).map((one) => ({ ...one, claimed: one.claimed && !after.isTrusted }));
    return { tools, problems: [...live.problems, ...pinProblems(after)] };
  }

  return {
    open,
    list,
    async upToDate(signal) {
      const inner = await open();
      const { kind } = inner.state;
      if (pins !== undefined && (isStale || kind === "connecting" || kind === "down" || kind === "auth_needed")) await list(signal);
      return inner;
    },
  };
}

/** The call never left: nothing was changed. */
function notReached(error: unknown): unknown {
  if (!CallgateError.is(error)) return error;
  const brief = error.details["brief"];
  return new ToolError({ code: "SOURCE_UNAVAILABLE", message: `${typeof brief === "string" ? brief : "The source could not be reached"}. The call did not reach it`, retryable: true, notApplied: true, cause: error });
}

/** Resources and prompts of a source that is opened when one is asked for. */
function lazyPassThrough(check: Check, pins: PinStore | undefined, notices: SourceNotices): SourcePassThrough {
  const from = async <Item>(ask: (source: SourcePassThrough) => Promise<readonly Item[]> | undefined): Promise<readonly Item[]> => {
    const { passThrough } = await check.open();
    return (passThrough === undefined ? undefined : await ask(passThrough)) ?? [];
  };
  return {
    async listTools(signal) {
      const { passThrough } = await check.upToDate(signal);
      const definitions = (await passThrough?.listTools?.(signal)) ?? [];
      const known = pins?.read();
      if (known === undefined) return definitions;
      const usable = usableNames(known);
      return definitions.filter(({ name }) => typeof name === "string" && usable.has(name));
    },
    listResources: (signal) => from((source) => source.listResources(signal)),
    listResourceTemplates: (signal) => from((source) => source.listResourceTemplates(signal)),
    readResource: (uri, signal) => from((source) => source.readResource(uri, signal)),
    listPrompts: (signal) => from((source) => source.listPrompts(signal)),
    getPrompt: (name, args, signal) => from((source) => source.getPrompt(name, args, signal)),
    notices,
  };
}
