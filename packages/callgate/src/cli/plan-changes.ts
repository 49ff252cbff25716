import type { Plan, PlanItem } from "@callgate/contract";
import { visible } from "./terminal.ts";

/** What one plan has that another has not. */
export interface PlanChanges {
  /** Other than the items: program, policy, principal. */
  readonly about: readonly string[];
  readonly removed: readonly PlanItem[];
  readonly added: readonly PlanItem[];
  /** The same write, with another word on it. */
  readonly changed: readonly { readonly before: PlanItem; readonly after: PlanItem }[];
}

/** Compares two plans by their writes: tool, arguments, and the how many-th of its kind. */
export function planChanges(before: Plan, after: Plan): PlanChanges {
  const known = new Map(before.items.map((item) => [keyOf(item), item]));
  const kept = after.items.flatMap((item) => { const old = known.get(keyOf(item)); return old === undefined ? [] : [{ before: old, after: item }]; });
  const still = new Set(kept.flatMap((pair) => [pair.before, pair.after]));
  const told: readonly (readonly [string, boolean])[] = [
    ["the program", before.program.digest !== after.program.digest],
    ["the policy", before.policyVersion !== after.policyVersion],
    ["on whose behalf it runs", JSON.stringify(before.principal) !== JSON.stringify(after.principal)],
    ["the definition of a tool", Object.entries(before.tools).some(([tool, digest]) => after.tools[tool] !== undefined && after.tools[tool] !== digest)],
  ];
  return {
    about: told.flatMap(([what, isOther]) => (isOther ? [what] : [])),
    removed: before.items.filter((item) => !still.has(item)),
    added: after.items.filter((item) => !still.has(item)),
    changed: kept.filter((pair) => stateOf(pair.before) !== stateOf(pair.after)),
  };
}

function keyOf({ tool, argsDigest, occurrence }: PlanItem): string {
  return `${tool} ${argsDigest} ${occurrence}`;
}

function stateOf({ change, isConditional, varies, decision }: PlanItem): string {
  return JSON.stringify([change ?? null, isConditional === true, varies?.paths ?? null, decision.kind, decision.ruleId]);
}

/** The changes a line each, with `-`, `+` and `~`. */
export function changesText({ about, removed, added, changed }: PlanChanges): string {
  const line = (mark: string, { id, tool, args }: PlanItem, word = ""): string => `${mark} ${id} ${visible(tool)} ${visible(JSON.stringify(args))}${word}`;
  return [
    ...about.map((what) => `~ ${what} is another`),
    ...removed.map((item) => line("-", item)),
    ...added.map((item) => line("+", item)),
    ...changed.map(({ before, after }) => line("~", after, `: ${stateWords(before)} → ${stateWords(after)}`)),
  ].map((text) => `${text}\n`).join("");
}

function stateWords({ change, isConditional, varies, decision }: PlanItem): string {
  const edited = change?.kind === "edited" ? `edited by ${visible(change.by)} to ${visible(JSON.stringify(change.args))}` : change?.kind;
  return [edited, isConditional === true ? "conditional" : undefined, varies === undefined ? undefined : `unknown at ${varies.paths.join(", ")}`, `${decision.kind} (${decision.ruleId})`].filter((word) => word !== undefined).join(", ");
}
