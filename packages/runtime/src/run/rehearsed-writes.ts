import { decodeValue } from "@callgate/contract";
import type { JournalEntry, Redactor, RunRecord } from "@callgate/contract";
import { declaredCost } from "../broker/call-cost.ts";
import type { RehearsedWrite } from "../plan/plan-items.ts";
import type { CatalogView } from "./catalog-view.ts";
import { lineageOf } from "./lineage.ts";
import { createPlanVeil } from "./plan-veil.ts";
import { readRecordedCalls } from "./recorded-calls.ts";

type Entry<Kind extends JournalEntry["kind"]> = Extract<JournalEntry, { readonly kind: Kind }>;

export interface RehearsedSeams {
  readonly redactor: Redactor;
  readonly view: CatalogView;
}

/** A rehearsal as it is on record, with clear values, and those of the workflows that it calls, by the number of the call. */
export interface RecordedRehearsal {
  readonly run: RunRecord;
  readonly entries: readonly JournalEntry[];
  readonly nested: ReadonlyMap<number, RecordedRehearsal>;
}

/** Entries of a rehearsal and of all within it. */
export function entriesWithin({ entries, nested }: RecordedRehearsal): readonly (readonly JournalEntry[])[] {
  return [entries, ...[...nested.values()].flatMap(entriesWithin)];
}

/**
 * The writes of a rehearsal that would have come to be, or that policy denied, in their order.
 *
 * @param all entries of everything that it is part of, itself included
 */
export function rehearsedWrites({ redactor, view }: RehearsedSeams, rehearsal: RecordedRehearsal, all: readonly (readonly JournalEntry[])[] = entriesWithin(rehearsal)): readonly RehearsedWrite[] {
  const { run, entries, nested } = rehearsal;
  const decisions = lastBySeq(entries, "call-decided");
  const transformed = lastBySeq(entries, "call-intercepted");
  const veil = createPlanVeil({ redactor, view }, entries, all);
  const origins = new Map(lineageOf(run, entries).calls.map(({ seq, args }) => [seq, args]));
  // The record has calls as they ended; a plan has them as the program made them.
  const calls = [...readRecordedCalls(entries, []).values()].toSorted((one, other) => (one.issued?.seq ?? 0) - (other.issued?.seq ?? 0));
  return calls.flatMap(({ issued, ended }): RehearsedWrite[] => {
    const decision = decisions.get(issued?.seq ?? -1);
    if (issued === undefined || issued.effect === "read" || ended === undefined || decision === undefined) return [];
    if (ended.simulated === undefined && decision.decision !== "deny") return [];
    const { seq, tool: name, effect, definitionDigest, occurrence = 0 } = issued;
    if (definitionDigest === undefined || issued.args.clear === undefined) return [];
    const tool = view.catalog.resolve(name);
    const clear = decodeValue(issued.args.clear);
    // What the host's own stage made of the arguments is known by its digest and its summary.
    const made = transformed.get(seq)?.args;
    const { reason } = decision;
    const within = nested.get(seq);
    return [{
      seq, tool: name, effect, definitionDigest, occurrence, clear,
      args: made === undefined && tool !== undefined ? veil.args(clear, tool, origins.get(seq) ?? []) : veil.hide((made ?? issued.args).summary),
      argsDigest: made?.digest ?? issued.args.digest,
      ...(within === undefined ? {} : { inner: rehearsedWrites({ redactor, view }, within, all) }),
      decision: { kind: decision.decision, ruleId: decision.ruleId, ...(reason === undefined ? {} : { reason: veil.text(reason) }) },
      origins: origins.get(seq) ?? [],
      ...(tool?.tool.cost === undefined ? {} : { cost: declaredCost(tool.tool.cost, 1) }),
      ...(ended.error === undefined || decision.decision === "deny" ? {} : { fails: { code: ended.error.code, message: veil.text(ended.error.message) } }),
    }];
  });
}

/** Tools whose answers a plan cannot vouch for: `unreal`, reads that were about a placeholder; `opaque`, nothing is known of what they answer. */
export function guessedAnswers(entries: readonly JournalEntry[]): { readonly unreal: readonly string[]; readonly opaque: readonly string[] } {
  const simulated = [...readRecordedCalls(entries, []).values()].flatMap(({ issued, ended }) => (issued === undefined || ended?.simulated === undefined ? [] : [{ ...issued, by: ended.simulated }]));
  const toolsOf = (calls: typeof simulated): readonly string[] => [...new Set(calls.map(({ tool }) => tool))];
  return { unreal: toolsOf(simulated.filter(({ effect }) => effect === "read")), opaque: toolsOf(simulated.filter(({ by }) => by === "opaque")) };
}

function lastBySeq<Kind extends "call-decided" | "call-intercepted">(entries: readonly JournalEntry[], kind: Kind): ReadonlyMap<number, Entry<Kind>> {
  return new Map(entries.flatMap((entry) => (entry.kind === kind && (entry.kind !== "call-intercepted" || entry.args !== undefined) ? [[entry.seq, entry as Entry<Kind>] as const] : [])));
}
