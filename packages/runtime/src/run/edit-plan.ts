import { CallgateError, decodeValue, encodeValue } from "@callgate/contract";
import type { ArgumentOrigins, Journal, JournalEntry, Plan, PlanItem, PlanItemEdit, WireValue } from "@callgate/contract";
import { digestOfWire } from "../lib/digest.ts";
import { withDigest } from "../plan/plan-digest.ts";
import { differingPaths } from "../plan/value-paths.ts";
import type { CatalogView } from "./catalog-view.ts";
import { createPlanVeil } from "./plan-veil.ts";
import { judgeEdit } from "./read-edit.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import type { RunSeams } from "./run-scope.ts";

/** Where the clear values of edits are kept that the plan's file must not show. */
const editEvent = "callgate:plan-edit";

const hashForm = /\bhash:[0-9a-f]{16}\b/g;

export interface EditPlanSeams {
  readonly seams: Pick<RunSeams, "journal" | "redactor" | "policy" | "clock">;
  readonly view: CatalogView;
}

/** Errors: PLAN_INVALID; the plan is as it was. */
export async function editPlan({ seams, view }: EditPlanSeams, plan: Plan, { item, args, by }: { readonly item: PlanItem; readonly args: unknown; readonly by: string }): Promise<Plan> {
  const { journal, redactor, policy, clock } = seams;
  const { principal, rehearsal, lane } = plan;
  const refuse = (why: string): CallgateError => new CallgateError("PLAN_INVALID", `Item ${item.id} of plan ${plan.planId} was not edited: ${why}`, { details: { planId: plan.planId, itemId: item.id } });
  if (item.isConditional === true || item.varies !== undefined) throw refuse("it is asked about when it comes; its arguments are edited then");
  if (item.decision.kind === "deny") throw refuse("policy denies it");
  if ((item.inner ?? []).length > 0) throw refuse("the writes within it were rehearsed with the arguments that it has; change the program, and rehearse it again");
  const tool = view.catalog.resolve(item.tool);
  if (tool === undefined) throw refuse(`${item.tool} is not here`);
  const entries = await journal.readEntries(principal.tenant, rehearsal.runId, { clear: true });
  const veil = createPlanVeil({ redactor, view }, entries);
  const own = originalOf(entries, item);
  const [original, shown] = item.change?.kind === "edited" ? [decodeValue(await keptEdit(journal, plan, item.change)), item.change.args] : [own, item.args];
  const edit = await judgeEdit({ policy, redactor }, { tool, given: veil.reveal(args), original, shown, facts: { principal, lane, runId: rehearsal.runId, callsBefore: 0, taint: [], atMs: clock.now() } });
  if (edit.kind !== "edit") throw refuse(edit.why);
  const { clear, digest } = edit.args;
  if (clear === undefined) throw refuse("its new arguments cannot be kept");
  const unknown = clear.json.match(hashForm)?.find((hash) => !encodeValue(original).json.includes(hash));
  if (unknown !== undefined) throw refuse(`nobody knows what ${unknown} stands for: leave a hash where it is, or write the value`);
  const given = decodeValue(clear);
  const paths = differingPaths(given, own);
  const isKept = ({ path }: ArgumentOrigins): boolean => !paths.some((edited) => path === edited || path.startsWith(`${edited}/`));
  const change: PlanItemEdit = { kind: "edited", args: veil.args(given, tool, item.origins.filter(isKept)), digest, by, paths };
  // The first of its id is kept: it is the digest of what it holds.
  if (!isWhole(change)) await journal.signal(principal.tenant, rehearsal.runId, { kind: "event", name: editEvent, id: digest, payload: { ...edit.args, summary: change.args }, by, atMs: clock.now() });
  const { decision: { kind, ruleId, ...told } } = edit;
  const decision = { kind, ruleId, ..."reason" in told && told.reason !== undefined ? { reason: veil.text(redactor.text(told.reason)) } : {} };
  return withDigest({ ...plan, items: plan.items.map((one) => (one.id === item.id ? { ...one, change, decision } : one)) });
}

/** New arguments in clear: as the file has them, or as they were kept where it must not. Errors: PLAN_INVALID. */
export async function keptEdit(journal: Pick<Journal, "readSignals">, { planId, principal, rehearsal }: Plan, change: PlanItemEdit): Promise<WireValue> {
  if (isWhole(change)) return encodeValue(change.args);
  const kept = (await journal.readSignals(principal.tenant, rehearsal.runId, { clear: true })).find((signal) => signal.kind === "event" && signal.name === editEvent && signal.id === change.digest);
  const clear = kept?.kind === "event" ? kept.payload.clear : undefined;
  if (clear !== undefined && digestOfWire(clear) === change.digest) return clear;
  throw new CallgateError("PLAN_INVALID", `Edited arguments of plan ${planId} hold sensitive values that its file does not show, and the record of rehearsal ${rehearsal.runId} is not here or was erased. Nothing was done`, { details: { planId } });
}

/** What the file shows is all there is. */
function isWhole({ args, digest }: PlanItemEdit): boolean {
  return digestOfWire(encodeValue(args)) === digest;
}

/** The program's own arguments. */
function originalOf(entries: readonly JournalEntry[], { argsDigest, tool }: PlanItem): unknown {
  const issued = [...readRecordedCalls(entries, []).values()].find((call) => call.issued?.tool === tool && call.issued.args.digest === argsDigest)?.issued;
  return issued?.args.clear === undefined ? undefined : decodeValue(issued.args.clear);
}
