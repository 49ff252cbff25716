import { decodeValue } from "@callgate/contract";
import type { Journal, JournalEntry, Label, Lane, PolicyDecision, Principal, RunRecord } from "@callgate/contract";

/** A recorded call that a policy can be asked about again. */
export interface DecidedCall {
  readonly callId: string;
  readonly seq: number;
  readonly tool: string;
  readonly principal: Principal;
  readonly lane: Lane;
  readonly atMs: number;
  /** Labels that had reached its run. */
  readonly taint: readonly Label[];
  /** What the policy said, before any person did. Of a policy that was not enforced: what it would have said. */
  readonly decided: { readonly decision: PolicyDecision["kind"]; readonly ruleId: string } | undefined;
  /** As the program gave them. Undefined: erased. */
  readonly args: { readonly value: unknown } | undefined;
}

/** The calls of a run, oldest first. What the lane refused is left out: no policy had a say in it. */
export async function readDecidedCalls(journal: Pick<Journal, "readEntries">, { runId, principal, lane }: RunRecord): Promise<readonly DecidedCall[]> {
  const entries = await journal.readEntries(principal.tenant, runId, { clear: true });
  const decisions = new Map<number, Extract<JournalEntry, { kind: "call-decided" }>>();
  for (const entry of entries) {
    if (entry.kind === "call-decided" && !decisions.has(entry.seq)) decisions.set(entry.seq, entry);
  }
  return entries.flatMap((entry): readonly DecidedCall[] => {
    if (entry.kind !== "call-issued") return [];
    const { seq, callId, tool, atMs, args } = entry;
    const first = decisions.get(seq);
    const decided = first === undefined ? undefined : { decision: first.unobserved ?? first.decision, ruleId: first.ruleId };
    if (decided?.ruleId === "lane:query") return [];
    return [{ callId, seq, tool, principal, lane, atMs, taint: first?.taint ?? [], decided, args: args.clear === undefined ? undefined : { value: decodeValue(args.clear) } }];
  });
}
