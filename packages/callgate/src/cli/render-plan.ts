import type { ArgumentOrigins, Plan, PlanItem, PlanItemEdit } from "@callgate/contract";
import { originText } from "./origin-text.ts";
import { argumentLines } from "./render-question.ts";
import { renderTable } from "./table.ts";
import { counted, visible } from "./terminal.ts";
import type { Colors, Terminal } from "./terminal.ts";

/** The items of a plan, a line each. */
export function planTable({ items }: Plan, { outColumns, outColors }: Pick<Terminal, "outColumns" | "outColors">): string {
  const rows = items.flatMap(withInner).map((item) => [item.id, item.tool, item.effect, wordOf(item), visible(JSON.stringify(shownArgs(item)))]);
  return renderTable(["item", "tool", "effect", "", "arguments"], rows, { columns: outColumns, colors: outColors });
}

/** Everything a person has to see before they approve a plan. */
export function planText(plan: Plan, problems: readonly string[], colors: Colors): string {
  const { planId, items, principal, program, rehearsal, madeAtMs, approval, notes } = plan;
  const who = principal.agent === undefined ? principal.user : `${principal.agent}, on behalf of ${principal.user}`;
  return [
    `${colors.bold(`Plan ${planId}`)}: ${counted(items.length, "write")} for ${visible(who)}, rehearsed ${new Date(madeAtMs).toISOString()} (${rehearsal.runId})`,
    ...program.text.trim().split(/\r\n|\n|\r/).map((line, index) => colors.dim(`  ${String(index + 1).padStart(3)}  ${visible(line)}`)),
    ...items.flatMap(withInner).flatMap((item) => ["", ...itemLines(item, colors)]),
    "",
    ...notes.map((note) => colors.yellow(`note ${visible(note)}`)),
    approval === undefined ? "Nobody has approved it." : `Approved by ${visible(approval.by)} at ${new Date(approval.atMs).toISOString()}${approval.signature === undefined ? "" : ", signed"}${approval.reason === undefined ? "" : `: ${visible(approval.reason)}`}.`,
    ...problems.map((problem) => colors.yellow(`It cannot be applied now: ${visible(problem)}`)),
  ].join("\n");
}

/** An item and the writes within it. */
function withInner(item: PlanItem): readonly PlanItem[] {
  return [item, ...(item.inner ?? []).flatMap(withInner)];
}

function itemLines(item: PlanItem, colors: Colors): readonly string[] {
  const { id, tool, effect, decision, derivedFrom, varies, fails, cost, change, inner, onlyWith, mayRepeat } = item;
  return [
    `${colors.bold(id)} ${visible(tool)} ${effect === "destructive" ? colors.red("destroys data") : "changes data"} · ${wordOf(item)}`,
    ...argumentLines(shownArgs(item)),
    ...(change?.kind === "edited" ? editLines(item, change) : originLines(item)),
    ...(derivedFrom.length === 0 ? [] : [`  comes after ${derivedFrom.map((source) => `item ${source}`).join(", ")}: ${varies?.paths.map(visible).join(", ") ?? "its arguments"} will be what ${derivedFrom.length === 1 ? "it answers" : "they answer"}`]),
    ...(onlyWith === undefined ? [] : [`  comes only with ${onlyWith.map(visible).join(", or with ")}${mayRepeat === true ? "; as often as the list has items" : ""}`]),
    ...(fails === undefined ? [] : [`  ! would fail: ${fails.code}: ${visible(fails.message)}`]),
    ...(cost === undefined ? [] : [`  costs at most ${cost.microUsd / 1_000_000} USD, ${counted(cost.tokens, "token")}`]),
    ...(change?.kind === "edited" ? [`  policy on the new arguments: ${decision.kind} (rule ${visible(decision.ruleId)})`] : []),
    ...(inner === undefined ? [] : [`  ${inner.length === 0 ? "a workflow that writes nothing" : `a workflow: what it writes itself ${inner.length === 1 ? "is item" : "are items"} ${inner.map((one) => one.id).join(", ")}`}`]),
    ...(decision.reason === undefined ? [] : [`  rule ${visible(decision.ruleId)}: ${visible(decision.reason)}`]),
  ];
}

/** Where the arguments come from that the program gives. */
function originLines({ origins, varies }: Pick<PlanItem, "origins" | "varies">, word = "is"): readonly string[] {
  const told = origins.filter((one) => one.origins.length > 0 || varies?.paths.includes(one.path) === true);
  return told.map((one) => `  ${placeText(one.path)} ${word} from ${originText(one)}`);
}

/** Of new arguments, what is a person's and what is still the program's; then what they stand in the place of. */
function editLines({ args, origins }: PlanItem, { by, paths }: PlanItemEdit): readonly string[] {
  const isEdited = ({ path }: ArgumentOrigins): boolean => paths.some((edited) => edited === "" || path === edited || path.startsWith(`${edited}/`));
  return [
    ...paths.map((path) => `  ${placeText(path)} is as ${visible(by)} edited it`),
    ...originLines({ origins: origins.filter((one) => !isEdited(one)) }),
    "  in place of the program's own arguments:",
    ...argumentLines(args),
    ...originLines({ origins: origins.filter(isEdited) }, "was"),
  ];
}

function placeText(path: string): string {
  return path === "" ? "the whole" : visible(path);
}

/** What becomes of an item when the plan is applied. */
function wordOf({ change, isConditional, varies, decision }: PlanItem): string {
  if (change?.kind === "dropped") return "dropped";
  if (decision.kind === "deny") return "denied by policy";
  if (varies !== undefined) return "asked when it comes";
  if (isConditional === true) return "conditional: asked when it comes";
  const word = decision.kind === "ask" ? "needs approval" : "allowed";
  return change?.kind === "edited" ? `edited by ${visible(change.by)}, ${word}` : word;
}

function shownArgs({ args, change }: PlanItem): PlanItem["args"] {
  return change?.kind === "edited" ? change.args : args;
}
