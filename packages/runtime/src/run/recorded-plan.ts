import { decodeValue, encodeValue } from "@callgate/contract";
import type { CallSummary, JournalEntry, Plan, PlanProgress, Redactor, WireValue } from "@callgate/contract";
import { createPinnedPlan } from "../plan/pinned-plan.ts";
import type { RunPlan } from "../plan/pinned-plan.ts";
import { planProgress } from "../plan/plan-progress.ts";
import { parsePlan } from "../plan/plan-shape.ts";
import { seqOf } from "./call-ids.ts";
import type { RunRequest } from "./run-request.ts";

type Entry<Kind extends JournalEntry["kind"]> = Extract<JournalEntry, { readonly kind: Kind }>;

export interface ApprovedPlan {
  readonly plan: Plan;
  readonly by: string;
  readonly approvalId: string;
  /** New arguments of edited items in clear, by their id. */
  readonly edits: ReadonlyMap<string, WireValue>;
}

/** A run that is about to begin, held against its plan. */
export function pinnedTo(approved: ApprovedPlan, writing: { readonly redactor: Redactor; readonly atMs: number }): NonNullable<RunRequest["plan"]> {
  return { pinned: createPinnedPlan({ ...approved, taken: new Map() }), entry: plannedEntry(approved, writing) };
}

/** What is written down of the plan that a run is pinned to, so that whoever goes on with the run holds it against the same. */
function plannedEntry({ plan, by, approvalId, edits }: ApprovedPlan, { redactor, atMs }: { readonly redactor: Redactor; readonly atMs: number }): Entry<"planned"> {
  const value = { plan, edits: Object.fromEntries(edits) };
  const { digest, clear } = redactor.record(value, encodeValue(value), [""]);
  return { kind: "planned", atMs, planId: plan.planId, by, approvalId, plan: { digest, summary: { items: plan.items.length, digest: plan.digest }, ...(clear === undefined ? {} : { clear }) } };
}

/** The plan of a run as its record has it, with what calls have taken of it. Undefined: it is pinned to none, or that was erased. */
export function recordedPlan(entries: readonly JournalEntry[]): RunPlan | undefined {
  const planned = entries.find((entry) => entry.kind === "planned");
  if (planned?.kind !== "planned" || planned.plan.clear === undefined) return undefined;
  const { by, approvalId } = planned;
  const { plan, edits } = decodeValue(planned.plan.clear) as { readonly plan: unknown; readonly edits: Readonly<Record<string, WireValue>> };
  const decided = entries.filter((entry) => entry.kind === "call-decided");
  const taken = new Map(decided.flatMap(({ seq, planItem }) => (planItem === undefined ? [] : [[seq, planItem] as const])));
  const within = entries.find((entry) => entry.kind === "call-ended" && entry.error?.code === "PLAN_DRIFT" && taken.has(entry.seq));
  const drift = decided.find(({ ruleId }) => ruleId === "plan:drift")?.reason ?? (within?.kind === "call-ended" ? within.error?.message : undefined);
  return createPinnedPlan({ plan: parsePlan(plan), by, approvalId, edits: new Map(Object.entries(edits)), taken, drift });
}

/** How far a run came with its plan. */
export function progressOf({ plan, taken, drift }: RunPlan, calls: readonly CallSummary[]): PlanProgress {
  const bySeq = new Map(calls.map((call) => [seqOf(call.id), call]));
  return planProgress(plan, new Map([...taken].flatMap(([seq, itemId]) => { const call = bySeq.get(seq); return call === undefined ? [] : [[itemId, call] as const]; })), drift);
}
