import type { CallSummary, Plan, PlanItem, PlanItemEnd, PlanProgress } from "@callgate/contract";

/** How far a run came with its plan. `calls` by the id of the item they took. */
export function planProgress({ planId, items }: Pick<Plan, "planId" | "items">, calls: ReadonlyMap<string, CallSummary>, drift: string | undefined): PlanProgress {
  return {
    planId,
    items: items.map((item) => {
      const call = calls.get(item.id);
      return { id: item.id, tool: item.tool, became: becameOf(item, call), ...(call === undefined ? {} : { callId: call.id }) };
    }),
    ...(drift === undefined ? {} : { drift }),
  };
}

function becameOf({ change, decision }: PlanItem, call: CallSummary | undefined): PlanItemEnd {
  if (change?.kind === "dropped") return "dropped";
  if (call === undefined) return decision.kind === "deny" ? "refused" : "not_reached";
  if (call.effectStatus !== "none") return call.effectStatus;
  return call.outcome === "denied" ? "refused" : "failed";
}

const words: Readonly<Record<PlanItemEnd, string>> = {
  done: "done",
  failed: "failed, and changed nothing",
  unknown: "in doubt: nobody knows whether it took effect",
  refused: "refused",
  dropped: "dropped by a person",
  not_reached: "did not come",
};

/** Items that are told one by one. */
const maxTold = 20;

/** What became of a plan, for whoever gets the result of its run. Nothing where all of it was done. */
export function progressText({ planId, items }: PlanProgress): readonly string[] {
  const done = items.filter(({ became }) => became === "done").length;
  const others = items.filter(({ became }) => became !== "done");
  const told = others.slice(0, maxTold).map(({ id, tool, became }) => `${id} ${tool}: ${words[became]}`);
  const more = others.length > maxTold ? [`and ${others.length - maxTold} more`] : [];
  return [`Plan ${planId}: ${done} of ${items.length} writes done${others.length === 0 ? "" : `. The others: ${[...told, ...more].join("; ")}`}`];
}
