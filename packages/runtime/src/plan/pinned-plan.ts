import type { Plan, PlanItem, WireValue } from "@callgate/contract";
import type { PinnedPlan, PlannedCall, PlanWord } from "../broker/pinned-plan.ts";
import { withDigest } from "./plan-digest.ts";
import { restDigest } from "./plan-items.ts";

export interface PinnedPlanOptions {
  readonly plan: Plan;
  readonly by: string;
  readonly approvalId: string;
  /** New arguments of edited items, by their id. */
  readonly edits: ReadonlyMap<string, WireValue>;
  /** Items that calls of an earlier stretch of the run took, by the number of the call. */
  readonly taken: ReadonlyMap<number, string>;
  /** The run had deviated in an earlier stretch. */
  readonly drift?: string | undefined;
}

/** What a run knows of the plan it is pinned to. */
export interface RunPlan extends PinnedPlan {
  readonly plan: Plan;
  /** Who approved it, and by which answer. */
  readonly by: string;
  readonly approvalId: string;
  /** Items that came, by the number of the call. */
  readonly taken: ReadonlyMap<number, string>;
  /** The run has deviated within one of its writes: nothing more of it happens. */
  deviate(reason: string): void;
}

/**
 * Holds the writes of a run against its plan: as a multiset, each item once, by tool and arguments. An item whose arguments
 * come from others has to come after them, and is recognised by the rest of its arguments.
 */
export function createPinnedPlan({ plan, by, approvalId, edits, taken: before, drift: driftedBefore }: PinnedPlanOptions): RunPlan {
  const taken = new Map(before);
  const items = new Map(plan.items.map((item) => [item.id, item]));
  let drift = driftedBefore;

  function itemFor({ seq, tool, argsDigest, args }: PlannedCall): PlanItem | undefined {
    const known = taken.get(seq);
    if (known !== undefined) return items.get(known);
    const came = new Set(taken.values());
    const open = plan.items.filter((item) => item.tool === tool && item.decision.kind !== "deny" && (item.mayRepeat === true || !came.has(item.id)));
    const equal = open.filter((item) => item.varies === undefined && item.argsDigest === argsDigest);
    const found = equal.find(({ isConditional }) => isConditional !== true) ?? equal[0] ?? open.find(({ varies, derivedFrom }) => varies !== undefined && derivedFrom.every((source) => came.has(source)) && restDigest(args, varies.paths) === varies.restDigest);
    if (found !== undefined) taken.set(seq, found.id);
    return found;
  }

  function wordOn(item: PlanItem, call: PlannedCall): PlanWord {
    const { id: itemId, change } = item;
    if (change?.kind === "dropped") return { kind: "dropped", itemId, by };
    const why = whyAsked(plan, item, call);
    if (why !== undefined) return { kind: "asked", itemId, reason: why };
    if (change === undefined) return { kind: "allowed", itemId, by, approvalId };
    const args = edits.get(itemId);
    return args === undefined ? { kind: "asked", itemId, reason: "The arguments that a person put in place of its own are not here any more." } : { kind: "edited", itemId, by, approvalId, args };
  }

  return {
    plan,
    by,
    approvalId,
    taken,
    word(call) {
      if (drift !== undefined) return { kind: "drift", reason: `the run has deviated from its plan before: ${drift}` };
      const item = itemFor(call);
      if (item !== undefined) return wordOn(item, call);
      drift = deviation(plan, call);
      return { kind: "drift", reason: drift };
    },
    deviate: (reason) => void (drift ??= reason),
    get drift() {
      return drift;
    },
  };
}

/** What a workflow is pinned to that a run calls as an item of its plan: the writes within that item. Undefined: the plan says nothing of them. */
export function planWithin({ plan, taken }: Pick<RunPlan, "plan" | "taken">, seq: number): Plan | undefined {
  const item = plan.items.find(({ id }) => id === taken.get(seq));
  return item?.inner === undefined ? undefined : withDigest({ ...plan, planId: `${plan.planId}.${item.id}`, items: item.inner });
}

/** Why an item is asked about when it comes, although the plan was approved. */
function whyAsked(plan: Plan, { isConditional, varies, tool }: PlanItem, { policyVersion, definitionDigest }: PlannedCall): string | undefined {
  const changed = [...(policyVersion === plan.policyVersion ? [] : ["the policy"]), ...(plan.tools[tool] === definitionDigest ? [] : ["the tool's definition"])];
  if (changed.length > 0) return `Since the plan was approved, this has changed: ${changed.join(", ")}.`;
  if (varies !== undefined) return `Its arguments were not known when the plan was approved, for they depend on what other calls answer (${varies.paths.map((path) => (path === "" ? "all of them" : path)).join(", ")}).`;
  return isConditional === true ? "The plan has it as conditional: whether it comes depends on what the writes before it answer." : undefined;
}

/** In words, what the call is to the plan. */
function deviation({ planId, items }: Plan, { tool }: PlannedCall): string {
  const alike = items.filter((item) => item.tool === tool).map(({ id }) => id);
  return alike.length === 0 ? `plan ${planId} has no write with ${tool}` : `plan ${planId} has no such write with ${tool} left (${alike.length === 1 ? `item ${alike[0] ?? ""} is another one, or was` : `items ${alike.join(", ")} are other ones, or were`} made already)`;
}
