import { CallgateError, encodeValue } from "@callgate/contract";
import type { ApprovalRules, EffectStatus, Gate, GateTimeTravel, Journal, JournalEntry, Principal, RecordedValue, ReplayResult, RunRecord, RunSignal } from "@callgate/contract";
import { assertJob } from "./assert-job.ts";
import { assertOutput } from "./assert-output.ts";
import { runOf, seqOf } from "./call-ids.ts";
import { createCallWords } from "./call-words.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { GateDurable } from "./gate-durable.ts";
import { explainRun } from "./explain-run.ts";
import { lineageOf } from "./lineage.ts";
import { nestedRuns } from "./nested-runs.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import { createRunFinder, notFound } from "./run-finder.ts";
import type { RunFinder } from "./run-finder.ts";
import type { RunSeams } from "./run-scope.ts";
import { settledEntries } from "./settled-entries.ts";
import { isOpen, standingOf } from "./standing.ts";

export interface GateRunsOptions {
  readonly seams: Pick<RunSeams, "journal" | "clock" | "redactor" | "suspendAfterMs">;
  readonly durable: Pick<GateDurable, "resume" | "cancel" | "rollback" | "heard">;
  readonly principal: Principal;
  /** Whose words count. */
  readonly rules: ApprovalRules;
  readonly viewFor: (principal: Principal) => CatalogView;
  readonly replay: (run: RunRecord, principal: Principal, signal: AbortSignal | undefined) => Promise<ReplayResult>;
  readonly timeTravel: GateTimeTravel;
}

/** The record as callers see it. A run is shown, continued and erased for its own tenant and user; others do not exist. */
export function createGateRuns({ seams, durable, principal, rules, viewFor, replay, timeTravel }: GateRunsOptions): Gate["runs"] {
  const { journal, clock, redactor } = seams;

  const { find, must } = createRunFinder(journal);
  const say = createSay(journal, durable.heard);
  return {
    ...timeTravel,
    ...reading({ journal, principal }, { find, must }),
    async replay(runId, options = {}) {
      const asker = options.principal ?? principal;
      return await replay(await must(runId, asker), asker, options.signal);
    },
    prune: ({ olderThanMs, maxBytes, reason, principal: asker = principal }) => journal.prune({ by: asker.user, ...(reason === undefined ? {} : { reason }), ...(olderThanMs === undefined ? {} : { olderThanMs: clock.now() - olderThanMs }), ...(maxBytes === undefined ? {} : { maxBytes }) }),
    async erase(runId, options = {}) {
      const asker = options.principal ?? principal;
      await must(runId, asker);
      await journal.erase(asker.tenant, runId, { by: asker.user });
    },
    async resume(runId, { principal: asker = principal, signal, suspendAfterMs = seams.suspendAfterMs, acceptChanges = false, leave } = {}) {
      return await durable.resume(await must(runId, asker), { suspendAfterMs, acceptChanges, ...(leave === undefined ? {} : { leave }) }, signal);
    },
    async signal(runId, { name, payload, id }, { principal: asker = principal } = {}) {
      const run = await must(runId, asker);
      if (!isOpen(run)) throw new CallgateError("SIGNAL_REFUSED", `Run ${runId} ${standingOf(run)}; nothing waits for "${name}" there`, { details: { runId } });
      const told = recorded(redactor, payload);
      const { known, counts } = await say(run, { kind: "event", name, ...(id === undefined ? {} : { id }), payload: told, by: asker.user, atMs: clock.now() });
      if (counts.kind === "event" && counts.payload.digest !== told.digest) throw otherSaid(runId, `event "${name}" with id ${String(id)}`, counts.by);
      return { known };
    },
    ...settling({ seams, principal, rules, viewFor }, { find, must, say }),
    async cancel(runId, { principal: asker = principal, signal } = {}) {
      return await durable.cancel(await must(runId, asker), signal);
    },
    async rollback(runId, { principal: asker = principal, signal } = {}) {
      return await durable.rollback(await must(runId, asker), signal);
    },
  };
}

/** What settles a call from outside. */
function settling({ seams: { journal, clock, redactor }, principal, rules, viewFor }: Pick<GateRunsOptions, "seams" | "principal" | "rules" | "viewFor">, { find, must, say }: RunFinder & { readonly say: ReturnType<typeof createSay> }): Pick<Gate["runs"], "resolve" | "complete"> {
  const [words, fits] = [createCallWords(rules), createFits(viewFor)];
  return {
    async resolve(callId, { happened, output }, { principal: asker = principal, signer } = {}) {
      const run = await find(runOf(callId), asker);
      const word = (attempt: number) => words.of({ kind: "resolution", callId, attempt, happened, ...(output === undefined ? {} : { output: recorded(redactor, output) }), atMs: clock.now() }, { principal: asker, signer });
      if (run === undefined) {
        // Its record is gone: the signature proves who says it, and is kept nowhere.
        word(0);
        return await settlePruned(journal, asker, { callId, happened });
      }
      const { attempt, tool } = await mustBeInDoubt(journal, run, callId);
      if (output !== undefined) await fits(run, tool, { callId, output });
      const said = word(attempt);
      if (isOpen(run)) {
        const { counts } = await say(run, said);
        words.assertCounts(counts);
        if (counts.kind === "resolution" && counts.happened !== happened) throw alreadySaid(callId, counts);
        return;
      }
      // Nobody goes on with an ended run: what is known now is added to its record.
      if (said.kind === "resolution") await journal.append({ runId: run.runId, epoch: run.epoch }, settledEntries({ ...said, seq: seqOf(callId) }), "full");
    },
    async complete(callId, result, { principal: asker = principal, signer } = {}) {
      const run = await must(runOf(callId), asker);
      const tool = await assertJob(journal, run, callId);
      if (result.kind === "value") await fits(run, tool, { callId, output: result.value });
      const told = result.kind === "value" ? { kind: "value" as const, value: recorded(redactor, result.value) } : { kind: "error" as const, error: { code: result.code, message: redactor.text(result.message), tool: "", retryable: false } };
      const { known, counts } = await say(run, words.of({ kind: "job", callId, result: told, atMs: clock.now() }, { principal: asker, signer }));
      words.assertCounts(counts);
      if (counts.kind === "job" && gistOf(counts.result) !== gistOf(told)) throw otherSaid(run.runId, `end of call ${callId}`, counts.by);
      return { known };
    },
  };
}

/** What tells one end of a job from another. */
function gistOf(result: Extract<RunSignal, { readonly kind: "job" }>["result"]): string {
  return result.kind === "value" ? result.value.digest : `${result.error.code}: ${result.error.message}`;
}

function recorded(redactor: RunSeams["redactor"], value: unknown): RecordedValue {
  return redactor.record(value, encodeValue(value), []);
}

/** Holds what somebody says a call came to against its tool, as the user of the run sees it. */
function createFits(viewFor: GateRunsOptions["viewFor"]) {
  return async ({ principal }: RunRecord, tool: string | undefined, { callId, output }: { readonly callId: string; readonly output: unknown }): Promise<void> =>
    await assertOutput(tool === undefined ? undefined : viewFor(principal).catalog.resolve(tool), callId, output);
}

/** Writes down what is said to a run, and tells who waits for it here. */
function createSay(journal: Journal, heard: GateDurable["heard"]): (run: RunRecord, signal: RunSignal) => Promise<{ readonly known: boolean; readonly counts: RunSignal }> {
  return async ({ runId, principal: { tenant } }, said) => {
    const { kind, signal } = await journal.signal(tenant, runId, said);
    heard(tenant, runId);
    return { known: kind === "known", counts: signal };
  };
}

/** Of a run that was pruned its key is left: the same piece of work is not done again before somebody knows. */
async function settlePruned(journal: Journal, { tenant, user }: Principal, { callId, happened }: { readonly callId: string; readonly happened: boolean }): Promise<void> {
  const known = await journal.settleEffect({ tenant, user, callId }, happened ? "done" : "none");
  if (known === undefined) throw notFound(runOf(callId), { tenant, user });
  if (known !== "unknown") throw notInDoubt(callId, known);
}

/** What only looks at the record. */
function reading({ journal, principal }: { readonly journal: Journal; readonly principal: Principal }, { find, must }: RunFinder): Pick<Gate["runs"], "list" | "show" | "ofCall" | "lineage" | "explain"> {
  return {
    ofCall: (callId, { principal: asker = principal } = {}) => nestedRuns(journal, callId, asker),
    list: (filter = {}) => journal.listRuns({ tenant: principal.tenant, ...filter }),
    async show(runId, options = {}) {
      const asker = options.principal ?? principal;
      const run = await find(runId, asker);
      return run === undefined ? undefined : { run, entries: await journal.readEntries(asker.tenant, runId) };
    },
    async explain(runId, options = {}) {
      const asker = options.principal ?? principal;
      return explainRun(await must(runId, asker), await journal.readEntries(asker.tenant, runId));
    },
    async lineage(runId, options = {}) {
      const asker = options.principal ?? principal;
      return lineageOf(await must(runId, asker), await journal.readEntries(asker.tenant, runId, { clear: true }));
    },
  };
}

type Known = EffectStatus | "under way" | undefined;

function notInDoubt(callId: string, known: Known): CallgateError {
  const standing = known === "under way" ? "it is under way in a process that lives. Once that is lost, say what became of it" : `its effect is ${known ?? "that of no call on record"}`;
  return new CallgateError("SIGNAL_REFUSED", `Call ${callId} is not in doubt: ${standing}`, { details: { callId } });
}

/** The first answer counts, for the run may be going on with it already. */
function alreadySaid(callId: string, { happened, by }: Extract<RunSignal, { readonly kind: "resolution" }>): CallgateError {
  const follows = happened ? "it is not performed again" : "it is performed when the run goes on. If it did happen after all, cancel the run before that";
  return new CallgateError("SIGNAL_REFUSED", `${by} has already said that call ${callId} ${happened ? "happened" : "did not happen"}. The first answer counts and this one does not: ${follows}`, { details: { callId } });
}

/** The same, said again, is harmless. */
function otherSaid(runId: string, what: string, by: string): CallgateError {
  return new CallgateError("SIGNAL_REFUSED", `${by} has already told run ${runId} of the ${what}, and it was something else. What was said first counts; what came now was not kept. What is news needs an id of its own`, { details: { runId } });
}

/** What is known of a call's effect, and how often it was settled before. */
async function doubtOf(journal: Journal, { runId, principal, status }: RunRecord, callId: string): Promise<{ readonly known: Known; readonly attempt: number; readonly tool?: string }> {
  const [entries, seq] = [await journal.readEntries(principal.tenant, runId), seqOf(callId)];
  const call = readRecordedCalls(entries, []).get(seq);
  if (call?.issued === undefined) return { known: undefined, attempt: 0 };
  const { begun, job, resolved } = call.past;
  const isOpen = begun && job === undefined && call.issued.effect !== "read";
  const open = status === "running" && isUnderWay(entries, seq) ? "under way" : "unknown";
  return { known: call.effectStatus ?? (isOpen ? open : "none"), attempt: resolved, tool: call.issued.tool };
}

/** Errors: SIGNAL_REFUSED for a call of which it is known what became. */
async function mustBeInDoubt(journal: Journal, run: RunRecord, callId: string): Promise<Omit<Awaited<ReturnType<typeof doubtOf>>, "known">> {
  const { known, ...doubt } = await doubtOf(journal, run, callId);
  if (known !== "unknown") throw notInDoubt(callId, known);
  return doubt;
}

/** Whether a call that has not ended was begun by whoever drives its run now. What a person said of it would count after a crash that comes later. */
function isUnderWay(entries: readonly JournalEntry[], seq: number): boolean {
  const begunAt = entries.findLastIndex((entry) => (entry.kind === "call-decided" || entry.kind === "call-resolved") && entry.seq === seq);
  return begunAt > entries.findLastIndex(({ kind }) => kind === "resumed");
}
