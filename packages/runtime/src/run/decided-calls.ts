import { decodeValue } from "@callgate/contract";
import type { Digest, Journal, JournalEntry, Label, Lane, PolicyDecision, Principal, RecordedValue, RunRecord } from "@callgate/contract";
import { pinnedInterfaces } from "./pinned-interfaces.ts";

/** What the policy said, before any person did. Of a policy that was not enforced: what it would have said. */
export interface RecordedDecision {
  readonly decision: PolicyDecision["kind"];
  /** Absent where only the decision is on record. */
  readonly ruleId?: string;
}

/** A recorded call that a policy can be asked about again. */
export interface DecidedCall {
  readonly runId: string;
  readonly callId: string;
  readonly seq: number;
  readonly tool: string;
  /** The interface it was checked against, where it is on record. */
  readonly pinned: Digest | undefined;
  readonly principal: Principal;
  readonly lane: Lane;
  readonly atMs: number;
  /** Labels that had reached its run. */
  readonly taint: readonly Label[];
  /** Tools of the run that had answered by then: what they bring today may be more than it was. */
  readonly answeredBefore: readonly string[];
  readonly decided: (RecordedDecision & { readonly ruleId: string }) | undefined;
  /** As the program gave them. Undefined: erased. */
  readonly args: Clear | undefined;
  /** Of a call that gave one: whether the program got it. */
  readonly result: { readonly decided: RecordedDecision & { readonly ruleId: string }; /** Undefined: erased, or not kept. */ readonly clear: Clear | undefined } | undefined;
}

interface Clear {
  readonly value: unknown;
}

type Entry<Kind extends JournalEntry["kind"]> = Extract<JournalEntry, { kind: Kind }>;

interface Gathered {
  readonly issued: Entry<"call-issued">;
  readonly answeredBefore: readonly string[];
  decided?: Entry<"call-decided">;
  held?: Entry<"result-held">;
  ended?: Entry<"call-ended">;
}

/** The calls among the entries of a run, oldest first. What the lane refused is left out: no policy had a say in it. */
export function decidedCalls(run: RunRecord, entries: readonly JournalEntry[]): readonly DecidedCall[] {
  const { runId, principal, lane } = run;
  const pinned = pinnedInterfaces(run, entries);
  return gather(entries).flatMap(({ issued, answeredBefore, decided: first, held, ended }): readonly DecidedCall[] => {
    const { seq, callId, tool, atMs, args } = issued;
    const decided = first === undefined ? undefined : { decision: first.unobserved ?? (first.isPinned === true ? "allow" : first.decision), ruleId: first.ruleId };
    if (decided?.ruleId === "lane:query") return [];
    return [{ runId, callId, seq, tool, pinned: pinned[tool], principal, lane, atMs, taint: first?.taint ?? [], answeredBefore, decided, args: clearOf(args), result: resultOf(ended, held) }];
  });
}

/** The same, read from the journal. */
export async function readDecidedCalls(journal: Pick<Journal, "readEntries">, run: RunRecord): Promise<readonly DecidedCall[]> {
  return decidedCalls(run, await journal.readEntries(run.principal.tenant, run.runId, { clear: true }));
}

function gather(entries: readonly JournalEntry[]): readonly Gathered[] {
  const calls = new Map<number, Gathered>();
  const answered = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === "call-issued") calls.set(entry.seq, { issued: entry, answeredBefore: [...answered] });
    const call = "seq" in entry ? calls.get(entry.seq) : undefined;
    if (call === undefined) continue;
    if (entry.kind === "call-decided") call.decided ??= entry;
    if (entry.kind === "result-held") call.held = entry;
    if (entry.kind === "call-ended") {
      call.ended = entry;
      if (entry.attempts > 0 || entry.cached) answered.add(call.issued.tool);
    }
  }
  return [...calls.values()];
}

/** A result is decided about where the tool has given one, not a placeholder; what is withheld without a question is not kept. */
function resultOf(ended: Gathered["ended"], held: Gathered["held"]): DecidedCall["result"] {
  if (ended === undefined || ended.simulated !== undefined || (ended.outcome !== "ok" && ended.release === undefined)) return undefined;
  const { release, resultDecided } = ended;
  const { kind: decision, ruleId } = release === undefined ? (resultDecided?.unobserved ?? { kind: "allow", ruleId: "default:result" }) : { kind: release.approvalId === undefined && release.by === "policy" ? "deny" : "ask", ruleId: release.ruleId } as const;
  const result = held?.result ?? ended.result;
  return { decided: { decision, ruleId }, clear: result === undefined ? undefined : clearOf(result) };
}

function clearOf({ clear }: RecordedValue): Clear | undefined {
  return clear === undefined ? undefined : { value: decodeValue(clear) };
}
