import type { Clock, Journal, JournalEntry, Policy, PolicyDecision, PolicyFacts, PolicySimulation, RunRecord, RunSurroundings, SimulatedChange } from "@callgate/contract";
import type { Catalog } from "../catalog/catalog.ts";
import { decidedCalls } from "./decided-calls.ts";
import type { DecidedCall, RecordedDecision } from "./decided-calls.ts";
import { judgedArgs } from "./judged-args.ts";
import { reachedEffects } from "./program-reach.ts";

export interface SimulationOptions {
  readonly policy: Policy;
  /** All tools there are, whoever may see them. */
  readonly catalog: Catalog;
  readonly journal: Pick<Journal, "listRuns" | "readEntries">;
  readonly clock: Clock;
  /** Of the sandbox that a program would get today. Undefined: none runs its language. */
  readonly surroundingsOf: (language: string) => RunSurroundings | undefined;
}

/** One thing that was decided, and what is decided of it today. `again` undefined: that cannot be said. */
interface Again {
  readonly counts: "programs" | "calls" | "results";
  readonly before: RecordedDecision | undefined;
  readonly again: PolicyDecision | undefined;
  readonly change: SimulatedSubject;
}

type SimulatedSubject = SimulatedChange extends infer Change ? (Change extends SimulatedChange ? Omit<Change, "before" | "after"> : never) : never;

/** Decides programs, calls and results of the newest recorded runs of a tenant again. Nothing is performed. */
export async function simulatePolicy(options: SimulationOptions, { tenant, runs: limit }: { readonly tenant: string; readonly runs: number }): Promise<PolicySimulation> {
  const { journal } = options;
  const runs = (await journal.listRuns({ tenant, limit })).filter(({ kind }) => kind !== "replay");
  const found: Again[] = [];
  for (const run of runs) {
    const entries = await journal.readEntries(tenant, run.runId, { clear: true });
    found.push(...(await programAgain(options, run, entries)));
    for (const call of decidedCalls(run, entries)) found.push(...(await callAgain(options, call)));
  }
  const count = (what: Again["counts"]): number => found.filter(({ counts, again }) => counts === what && again !== undefined).length;
  const changes = found.flatMap(({ before, again, change }): readonly SimulatedChange[] => (before === undefined || again === undefined || before.decision === again.kind ? [] : [{ ...change, before, after: again }]));
  return { runs: runs.length, programs: count("programs"), calls: count("calls"), results: count("results"), leftOut: found.filter(({ again }) => again === undefined).length, changes };
}

async function callAgain(options: SimulationOptions, call: DecidedCall): Promise<readonly Again[]> {
  const { policy } = options;
  const { callId, tool, principal: { user }, decided, result } = call;
  const facts = await factsAgain(options, call);
  const again = facts === undefined ? undefined : policy.inspection.explain(facts).decision;
  const ofCall: Again = { counts: "calls", before: decided, again, change: { about: "call", callId, tool, user } };
  // Where the call would not take place there is no result to decide about.
  if (result === undefined || again?.kind === "deny") return [ofCall];
  const { clear } = result;
  const ofResult = facts === undefined || clear === undefined ? undefined : enforced(policy.decideResult({ ...facts, result: clear.value }));
  return [ofCall, { counts: "results", before: result.decided, again: ofResult, change: { about: "result", callId, tool, user } }];
}

/**
 * A recorded call as policies see it today: its arguments after the tool's own schema, and beside the labels that had reached
 * it those of tools that had answered by then. Undefined: the tool is gone, the arguments are erased or do not fit it any more.
 */
export async function factsAgain({ catalog, clock }: Pick<SimulationOptions, "catalog" | "clock">, call: DecidedCall): Promise<PolicyFacts | undefined> {
  const { tool, pinned, principal, lane, runId, seq, atMs, args, taint, answeredBefore } = call;
  const current = catalog.resolve(tool);
  const known = (pinned === undefined ? undefined : current?.as(pinned)) ?? current;
  if (known === undefined || args === undefined) return undefined;
  const judged = await judgedArgs(known, args.value, clock);
  if (judged.kind === "misfit") return undefined;
  const brought = answeredBefore.flatMap((name) => catalog.resolve(name)?.tool.labels ?? []);
  return { principal, tool, namespace: known.namespace, spec: known.tool, args: judged.args, lane, runId, callsBefore: seq, taint: [...new Set([...taint, ...brought])], atMs };
}

async function programAgain({ policy, catalog, journal, surroundingsOf }: SimulationOptions, run: RunRecord, entries: readonly JournalEntry[]): Promise<readonly Again[]> {
  const { runId, principal, language, lane, startedAtMs: atMs } = run;
  const checked = entries.find((entry) => entry.kind === "checked");
  // What the check refused no policy had a say in.
  if (checked?.kind !== "checked" || language === undefined || (!checked.ok && checked.review === undefined)) return [];
  const surroundings = surroundingsOf(language);
  // The record of a refused program does not say what it could reach.
  const { reach: reached } = checked;
  const { agent, tenant, user } = principal;
  const newAgent = policy.looksAtAgents === true && agent !== undefined && (await journal.listRuns({ tenant, agent, kind: "program", status: "completed", beforeMs: atMs, limit: 1 })).length === 0;
  const again = surroundings === undefined || reached === undefined ? undefined : enforced(policy.decideRun({ principal, language, lane, runId, atMs, ...surroundings, reach: reachedEffects({ catalog, tools: catalog.tools }, lane, reached), newAgent }));
  return [{ counts: "programs", before: recordedOf(checked), again, change: { about: "program", runId, language, user } }];
}

/** What the policy had said of a program; findings of the scanner have a person look at it as well. */
function recordedOf({ review, diagnostics }: Extract<JournalEntry, { kind: "checked" }>): RecordedDecision {
  const ruleId = review?.ruleIds.find((id) => !diagnostics.some(({ code }) => code === id));
  if (review === undefined || ruleId === undefined) return { decision: "allow" };
  return { decision: review.by === "policy" ? "deny" : "ask", ruleId };
}

/** Of a policy that is not enforced: what it would decide. */
function enforced(decision: PolicyDecision): PolicyDecision {
  return decision.kind === "allow" && decision.unobserved !== undefined ? decision.unobserved : decision;
}
