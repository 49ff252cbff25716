import type { JsonObject, JsonValue, Plan, PlanItem } from "@callgate/contract";
import { modelView } from "@callgate/runtime";

/** Writes that are told one by one, those within workflows among them. */
const maxShown = 10;
/** Characters of JSON of one write's arguments. */
const maxArgChars = 500;

/** The writes of a plan as a client shows them to a person: with arguments, what policy says, and what becomes of them. */
export function plannedRecord(plan: Plan): JsonObject {
  const all = plan.items.flatMap(withInner);
  return { planned: all.slice(0, maxShown).map(recordOf), ...(all.length > maxShown ? { plannedCount: all.length } : {}) };
}

/** The same as lines of text. */
export function plannedText(plan: Plan): string {
  const all = plan.items.flatMap(withInner);
  const lines = all.slice(0, maxShown).map((item) => `- ${item.id} ${item.tool} ${shortJson(item.args)}: ${wordsOf(item).join("; ")}`);
  return ["planned writes, none of which has happened:", ...lines, ...(all.length > maxShown ? [`- and ${all.length - maxShown} more`] : [])].join("\n");
}

function withInner(item: PlanItem): readonly PlanItem[] {
  return [item, ...(item.inner ?? []).flatMap(withInner)];
}

function recordOf(item: PlanItem): JsonObject {
  const { id, tool, effect, args, decision, isConditional, onlyWith, varies, cost } = item;
  const json = JSON.stringify(args);
  return {
    id,
    tool,
    effect,
    args: json.length <= maxArgChars ? (modelView(args) as JsonValue) : shortJson(args),
    decision: decision.kind,
    ...(isConditional === undefined ? {} : { isConditional }),
    ...(onlyWith === undefined ? {} : { onlyWith: [...onlyWith] }),
    ...(varies === undefined ? {} : { varies: [...varies.paths] }),
    ...(cost === undefined ? {} : { cost: { ...cost } }),
  };
}

function shortJson(args: JsonValue): string {
  const json = JSON.stringify(args);
  return json.length <= maxArgChars ? json : `${json.slice(0, maxArgChars).toWellFormed()}… (${json.length} characters)`;
}

function wordsOf({ effect, decision, isConditional, onlyWith, varies, fails }: PlanItem): readonly string[] {
  return [
    effect === "destructive" ? "destroys data" : "changes data",
    decision.kind === "deny" ? "denied by policy" : decision.kind === "ask" ? "needs approval" : "allowed",
    ...(isConditional === undefined ? [] : [`conditional${onlyWith === undefined ? "" : `, comes only with ${onlyWith.join(", or with ")}`}`]),
    ...(varies === undefined ? [] : [`known only when it comes: ${varies.paths.map((path) => (path === "" ? "all of it" : path)).join(", ")}`]),
    ...(fails === undefined ? [] : [`would fail: ${fails.code}`]),
  ];
}
