import type { CallTrace, Effect, JsonValue } from "@callgate/contract";
import { createOriginIndex } from "../../provenance/origin-index.ts";

/** One call that went well, among those that belong to one piece of work. */
export interface SessionStep {
  readonly runId: string;
  readonly tool: string;
  readonly effect: Effect;
  readonly args: JsonValue;
  /** As they may be shown. */
  readonly shownArgs: JsonValue;
  /** Undefined: nothing, or what JSON has no word for. */
  readonly result: JsonValue | undefined;
  readonly issuedAtMs: number;
  readonly endedAtMs: number;
  readonly durationMs: number;
  /** What its arguments and answer put into a model's context; 0 for a call of a program. */
  readonly directTokens: number;
  /** By JSON Pointer into the arguments: the steps whose answer has the same value, by place in the session, nearest first. */
  readonly flows: ReadonlyMap<string, readonly { readonly step: number; readonly path: string }[]>;
}

/** Calls of one piece of work, in the order in which they were issued. */
export interface CallSession {
  readonly kind: CallTrace["kind"];
  readonly steps: readonly SessionStep[];
}

/** Direct calls further apart are not one piece of work. */
const maxGapMs = 30 * 60_000;

/**
 * Direct calls by who made them, for what, and when; each program by itself.
 *
 * @param traces newest first, as runs are listed: of calls that began in one millisecond, that says which came first
 */
export function callSessions(traces: readonly CallTrace[]): readonly CallSession[] {
  const direct = Map.groupBy(traces.filter(({ kind }) => kind === "call"), ({ principal: { user, agent, task }, taskId, conversation }) => JSON.stringify([user, agent ?? null, taskId ?? task ?? null, conversation ?? null]));
  const pieces = [...direct.values()].flatMap((group) => byGap(group.toReversed().sort((a, b) => a.startedAtMs - b.startedAtMs)));
  const programs = traces.filter(({ kind }) => kind === "program").map((trace) => [trace]);
  return [...pieces.map((piece) => sessionOf("call", piece)), ...programs.map((piece) => sessionOf("program", piece))].filter(({ steps }) => steps.length > 1);
}

function byGap(sorted: readonly CallTrace[]): readonly (readonly CallTrace[])[] {
  const pieces: CallTrace[][] = [];
  for (const trace of sorted) {
    const piece = pieces.at(-1);
    const before = piece?.at(-1);
    if (piece === undefined || before === undefined || trace.startedAtMs - before.startedAtMs > maxGapMs) pieces.push([trace]);
    else piece.push(trace);
  }
  return pieces;
}

function sessionOf(kind: CallTrace["kind"], traces: readonly CallTrace[]): CallSession {
  const index = createOriginIndex("");
  const steps: SessionStep[] = [];
  for (const { runId, tokens, calls } of traces) {
    for (const { tool, effect, outcome, args, shownArgs, result, issuedAtMs, endedAtMs, durationMs } of calls) {
      if (outcome !== "ok" || !("value" in args)) continue;
      const flows = new Map(index.origins(args.value).map(({ path, origins }) => [path, origins.flatMap(({ how, seq, path: from = "" }) => (how === "same" && seq !== undefined ? [{ step: seq, path: from }] : []))] as const));
      const value = result !== undefined && "value" in result ? result.value : undefined;
      if (value !== undefined) index.add({ kind: "result", seq: steps.length, tool }, value);
      steps.push({ runId, tool, effect, args: args.value, shownArgs, result: value, issuedAtMs, endedAtMs, durationMs, directTokens: kind === "call" ? (tokens?.direct ?? 0) : 0, flows });
    }
  }
  return { kind, steps };
}
