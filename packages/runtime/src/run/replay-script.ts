import type { DeliveredCall, GuestCall, GuestCompletion, JsonValue, ReplayResult } from "@callgate/contract";
import { digestOf, digestOfWire } from "../lib/digest.ts";
import type { RecordedRun } from "./recorded-run.ts";

export type Divergence = NonNullable<ReplayResult["divergence"]>;

/**
 * Plays a recorded run to a guest: holds each call against its record, and hands over the recorded completions in their
 * order, each only after its call was issued. Knows nothing of tools; nothing it does has an effect.
 */
export interface ReplayScript {
  issued(calls: readonly GuestCall[]): void;
  /** The guest waits, having taken so many completions. */
  blocked(delivered: number): void;
  /** The first difference so far. */
  readonly divergence: Divergence | undefined;
  /** Recorded tool calls that were not issued, once the guest has ended. */
  missing(): Divergence | undefined;
}

export interface ReplayScriptOptions {
  readonly recorded: RecordedRun;
  readonly deliver: (completions: readonly GuestCompletion[]) => void;
  /** A difference was found. */
  readonly stop: () => void;
  /** The record ends here although the program does not. */
  readonly atEnd: () => void;
  /** The answers are not what they were (placeholders stand in them), so arguments may differ. Default false. */
  readonly otherArguments?: boolean;
}

/** True when the program came to its end by itself, so that its record is whole. */
export function endedByItself({ run }: RecordedRun): boolean {
  return run.status === "completed" || run.status === "failed";
}

export function createReplayScript({ recorded, deliver, stop, atEnd, otherArguments = false }: ReplayScriptOptions): ReplayScript {
  const { completions } = recorded;
  const expected = expectedCalls(recorded);
  const issued = new Set<number>();
  let next = 0;
  let divergence: Divergence | undefined;

  function diverge(found: Divergence): void {
    divergence ??= found;
    stop();
  }

  function feed(): void {
    const start = next;
    for (let completion = completions[next]; completion !== undefined && issued.has(completion.seq); completion = completions[next]) next += 1;
    if (next > start) deliver(completions.slice(start, next).map(({ seq, atMs, result }) => ({ seq, atMs, result })));
  }

  return {
    issued(calls) {
      for (const call of calls) {
        issued.add(call.seq);
        const found = compare(call, expected.get(call.seq), { whole: endedByItself(recorded), otherArguments });
        if (found !== undefined) return diverge(found);
      }
      if (divergence === undefined) feed();
    },
    blocked(delivered) {
      if (divergence !== undefined || delivered < next) return;
      const waited = completions[next];
      if (waited !== undefined) {
        const { seq, call } = waited;
        return diverge({ seq, recorded: shown(call), replayed: null, message: `The recorded run issued call ${seq} (${nameOf(call)}) by now; the replayed program waits without it` });
      }
      if (!endedByItself(recorded)) return atEnd();
      diverge({ seq: issued.size, recorded: { end: recorded.run.status }, replayed: { end: "waiting" }, message: `The recorded run ended here (${recorded.run.status}); the replayed program waits for something that was never answered` });
    },
    get divergence() {
      return divergence;
    },
    missing() {
      for (const [seq, call] of recorded.issued) {
        if (!issued.has(seq)) return { seq, recorded: { kind: "tool", tool: call.tool, args: call.args?.summary ?? null }, replayed: null, message: `The recorded run made call ${seq} (${call.tool}); the replayed program ended without it` };
      }
      return undefined;
    },
  };
}

interface Expected {
  readonly call: DeliveredCall | { readonly kind: "tool"; readonly tool: string; readonly argsDigest: undefined };
  readonly args: JsonValue;
}

function expectedCalls({ completions, issued }: RecordedRun): ReadonlyMap<number, Expected> {
  const expected = new Map<number, Expected>();
  for (const [seq, { tool, argsDigest, args }] of issued) expected.set(seq, { call: argsDigest === undefined ? { kind: "tool", tool, argsDigest } : { kind: "tool", tool, argsDigest }, args: args?.summary ?? null });
  for (const { seq, call } of completions) expected.set(seq, { call, args: expected.get(seq)?.args ?? null });
  return expected;
}

const unreadableDigest = digestOf("unreadable");

interface Comparing {
  /** The record holds every tool call; timers and built-ins are only there once they were answered. */
  readonly whole: boolean;
  readonly otherArguments: boolean;
}

function compare(call: GuestCall, expected: Expected | undefined, { whole, otherArguments }: Comparing): Divergence | undefined {
  const { seq } = call;
  const actual = deliveredForm(call);
  if (expected === undefined) {
    if (call.kind !== "tool" || !whole) return undefined;
    return { seq, recorded: null, replayed: shown(actual), message: `The replayed program makes call ${seq} (${nameOf(actual)}), which the recorded run did not make` };
  }
  const { call: wanted, args } = expected;
  const recorded = { ...shown(wanted), ...(args === null ? {} : { args }) };
  if (nameOf(wanted) !== nameOf(actual)) return { seq, recorded, replayed: shown(actual), message: `Call ${seq} was ${nameOf(wanted)} in the recorded run and is ${nameOf(actual)} now` };
  if (otherArguments || wanted.kind === "timer" || actual.kind === "timer" || wanted.argsDigest === undefined || wanted.argsDigest === unreadableDigest || wanted.argsDigest === actual.argsDigest) return undefined;
  return { seq, recorded, replayed: shown(actual), message: `Call ${seq} (${nameOf(wanted)}) has other arguments than in the recorded run` };
}

/** What a call is compared by. */
export function deliveredForm(call: GuestCall): DeliveredCall {
  switch (call.kind) {
    case "tool":
      return { kind: "tool", tool: call.tool, argsDigest: readableDigest(call.args) };
    case "builtin":
      return { kind: "builtin", name: call.name, argsDigest: readableDigest(call.args) };
    case "timer":
      return { kind: "timer", delayMs: call.delayMs };
  }
}

function readableDigest(wire: Extract<GuestCall, { kind: "tool" }>["args"]): ReturnType<typeof digestOfWire> {
  try {
    return digestOfWire(wire);
  } catch {
    return unreadableDigest;
  }
}

/** Two timers differ in their delay; calls of one tool in their arguments, which are compared apart. */
function nameOf(call: Expected["call"]): string {
  switch (call.kind) {
    case "tool":
      return call.tool;
    case "builtin":
      return call.name;
    case "timer":
      return `a timer of ${call.delayMs} ms`;
  }
}

function shown(call: Expected["call"]): { readonly [key: string]: JsonValue } {
  switch (call.kind) {
    case "tool":
      return { kind: "tool", tool: call.tool, ...(call.argsDigest === undefined ? {} : { argsDigest: call.argsDigest }) };
    case "builtin":
      return { kind: "builtin", name: call.name, argsDigest: call.argsDigest };
    case "timer":
      return { kind: "timer", delayMs: call.delayMs };
  }
}
