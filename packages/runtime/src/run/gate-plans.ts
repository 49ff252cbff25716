import { CallgateError } from "@callgate/contract";
import type { ApprovalRules, GatePlans, Journal, Plan, PlanItem, Principal, RunRecord, WireValue } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";
import { newId } from "../lib/new-id.ts";
import { programDigest, withDigest } from "../plan/plan-digest.ts";
import { parsePlan } from "../plan/plan-shape.ts";
import type { CatalogView } from "./catalog-view.ts";
import { editPlan, keptEdit } from "./edit-plan.ts";
import { makePlan } from "./make-plan.ts";
import { nestedRuns } from "./nested-runs.ts";
import { approvalProblem, approvePlan } from "./plan-approval.ts";
import type { ApprovedPlan } from "./recorded-plan.ts";
import { othersOf } from "./rehearse-others.ts";
import { createRunFinder, notFound } from "./run-finder.ts";
import type { RecordedRehearsal } from "./rehearsed-writes.ts";
import type { RunSeams } from "./run-scope.ts";

export interface GatePlansOptions {
  readonly seams: Pick<RunSeams, "journal" | "redactor" | "policy" | "clock" | "random">;
  readonly rules: ApprovalRules;
  readonly principal: Principal;
  readonly viewFor: (principal: Principal) => CatalogView;
  /** Waits for sources that are still connecting. */
  readonly ready: () => Promise<void>;
}

/** The gate's plans, and what its `apply` needs of them. */
export interface PlanBook extends GatePlans {
  /** A plan that may be applied now, with all that is kept in clear. Errors: PLAN_INVALID, PLAN_NOT_APPROVED, PLAN_STALE. */
  readonly approved: (plan: Plan, principal: Principal) => Promise<ApprovedPlan & { readonly program: string }>;
}

export function createGatePlans(options: GatePlansOptions): PlanBook {
  const { seams, rules, principal: own, viewFor, ready } = options;
  const { journal, clock } = seams;
  const approvalSeams = () => ({ journal, rules, nowMs: clock.now() });

  async function staleness(plan: Plan): Promise<readonly string[]> {
    await ready();
    return changesSincePlan(plan, { policyVersion: seams.policy.version, view: viewFor(plan.principal) });
  }

  /** Of its own tenant only: for others there is none. */
  async function current(plan: Plan, principal: Principal, others: readonly string[] = []): Promise<void> {
    if (plan.principal.tenant !== principal.tenant) throw notFound(plan.rehearsal.runId, principal);
    const stale = [...others, ...(await staleness(plan))];
    if (stale.length > 0) throw new CallgateError("PLAN_STALE", `Plan ${plan.planId} does not hold any more: ${stale.join("; ")}. Nothing was done; rehearse the program again`, { details: { planId: plan.planId, changes: [...stale] } });
  }

  return {
    parse: parsePlan,
    async of(runId, { principal = own } = {}) {
      await ready();
      const plain = await readRehearsal(options, principal, runId);
      const { replayOf } = plain.run;
      const first = replayOf === undefined ? [] : [{ variant: { kind: "other" as const }, ...(await readRehearsal(options, principal, replayOf)) }];
      const others = await Promise.all((await othersOf(journal, plain.run)).map(async ({ runId: other, variant }) => ({ variant, ...(await readRehearsal(options, principal, other)) })));
      return makePlan({ redactor: seams.redactor, view: viewFor(plain.run.principal), planId: newId("pln", seams.random), nowMs: clock.now() }, plain, [...first, ...others]);
    },
    async edit(given, { itemId, args, principal = own, by = principal.user }) {
      const plan = parsePlan(given);
      await current(plan, principal);
      return await editPlan({ seams, view: viewFor(plan.principal) }, plan, { item: itemOf(plan, itemId), args, by });
    },
    drop(given, itemId) {
      const plan = parsePlan(given);
      const item = itemOf(plan, itemId);
      return withDigest({ ...plan, items: plan.items.map((one) => (one === item ? { ...one, change: { kind: "dropped" } } : one)) });
    },
    async approve(given, answer) {
      const plan = parsePlan(given);
      await current(plan, answer.principal ?? own);
      return { ...plan, approval: await approvePlan(approvalSeams(), plan, answer) };
    },
    async problems(given, { principal = own } = {}) {
      const plan = parsePlan(given);
      const unapproved = await approvalProblem(approvalSeams(), plan);
      return [...(unapproved === undefined ? [] : [unapproved]), ...otherPrincipal(plan, principal), ...(await staleness(plan))];
    },
    async approved(given, principal) {
      const plan = parsePlan(given);
      const why = await approvalProblem(approvalSeams(), plan);
      if (why !== undefined || plan.approval === undefined) throw new CallgateError("PLAN_NOT_APPROVED", `Plan ${plan.planId} was not applied: ${why ?? ""}. Nothing was done`, { details: { planId: plan.planId } });
      await current(plan, principal, otherPrincipal(plan, principal));
      const { by, approvalId } = plan.approval;
      return { plan, by, approvalId, program: await clearProgram(options, plan), edits: await clearEdits(options, plan) };
    },
  };
}

function itemOf({ planId, items }: Plan, itemId: string): PlanItem {
  const found = items.find(({ id }) => id === itemId);
  const around = items.find(({ id, inner }) => inner !== undefined && itemId.startsWith(`${id}.`));
  if (around !== undefined) throw new CallgateError("PLAN_INVALID", `Item ${itemId} of plan ${planId} is a write within the workflow ${around.tool} (item ${around.id}), which runs as it was saved: drop item ${around.id}, or have the program call the workflow in another way and rehearse it again`, { details: { planId, itemId } });
  if (found === undefined) throw new CallgateError("PLAN_INVALID", `Plan ${planId} has no item ${itemId}; callgate plan show lists them`, { details: { planId, itemId } });
  return found;
}

async function readRehearsal({ seams: { journal } }: GatePlansOptions, principal: Principal, runId: string): Promise<RecordedRehearsal> {
  return await withNested(journal, await createRunFinder(journal).must(runId, principal));
}

async function withNested(journal: Journal, run: RunRecord): Promise<RecordedRehearsal> {
  const { principal, runId } = run;
  const entries = await journal.readEntries(principal.tenant, runId, { clear: true });
  const nested = new Map<number, RecordedRehearsal>();
  for (const entry of entries) {
    if (entry.kind !== "call-issued" || entry.effect === "read") continue;
    const within = (await nestedRuns(journal, entry.callId, principal)).at(-1);
    if (within?.kind === "rehearsal") nested.set(entry.seq, await withNested(journal, within));
  }
  return { run, entries, nested };
}

/** A plan is good for whom it was made, with the same roles and claims. That a program of theirs rehearsed it keeps nobody from applying it themselves. */
function otherPrincipal(plan: Plan, principal: Principal): readonly string[] {
  const who = ({ tenant, user, roles, claims }: Principal): string => digestOf({ tenant, user, roles, claims });
  return who(principal) === who(plan.principal) ? [] : [`it was made for ${plan.principal.user}, not for ${principal.user} as they are now (roles and claims count as well)`];
}

/** What is not as it was when the plan was made. */
function changesSincePlan(plan: Plan, { policyVersion, view }: { readonly policyVersion: string; readonly view: CatalogView }): readonly string[] {
  const tools = Object.entries(plan.tools).flatMap(([name, digest]) => {
    const tool = view.catalog.resolve(name);
    return tool === undefined ? [`the tool ${name} is not here`] : tool.definitionDigest === digest ? [] : [`the definition of ${name} has changed (it is version ${tool.tool.version} now, and a plan is good for the tool as it was shown, also where that keeps its older version)`];
  });
  return [...(policyVersion === plan.policyVersion ? [] : ["the policy has changed"]), ...tools];
}

/** The program as it was rehearsed. A file that had to leave something out is completed from the record. */
async function clearProgram({ seams: { journal } }: GatePlansOptions, { planId, program: { text, language, digest }, principal, rehearsal }: Plan): Promise<string> {
  if (programDigest(text, language) === digest) return text;
  const kept = (await journal.readRun(principal.tenant, rehearsal.runId))?.programText;
  if (kept !== undefined && programDigest(kept, language) === digest) return kept;
  throw new CallgateError("PLAN_INVALID", `The program of plan ${planId} is not whole in its file, for it holds a secret, and the record of rehearsal ${rehearsal.runId} is not here or was erased. Nothing was done`, { details: { planId } });
}

async function clearEdits({ seams: { journal } }: GatePlansOptions, plan: Plan): Promise<ReadonlyMap<string, WireValue>> {
  const edits = new Map<string, WireValue>();
  for (const { id, change } of plan.items) if (change?.kind === "edited") edits.set(id, await keptEdit(journal, plan, change));
  return edits;
}
