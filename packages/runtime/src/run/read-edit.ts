import { decodeValue, encodeValue, ValueError } from "@callgate/contract";
import type { Policy, PolicyDecision, PolicyFacts, Principal, RecordedValue, Redactor, WireValue } from "@callgate/contract";
import { inputMarks } from "../broker/pointers.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { listIssues } from "../lib/list-issues.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { FoundQuestion } from "./find-question.ts";
import { pinnedInterfaces } from "./pinned-interfaces.ts";
import { enteredArgs, issuedCallOf } from "./shown-approval.ts";

export interface ReadEditSeams {
  readonly policy: Policy;
  readonly redactor: Redactor;
  readonly now: () => number;
  readonly viewFor: (principal: Principal) => CatalogView;
}

/** `invalid`: they do not fit the tool. `denied`: policy refuses a call with them. */
export type ReadEdit = { readonly kind: "edit"; readonly args: RecordedValue; readonly decision: PolicyDecision } | { readonly kind: "invalid" | "denied"; readonly why: string };

/**
 * Arguments that a person puts in the place of those asked about: they have to fit the tool's schema, and policy must not
 * deny a call with them. Where it would ask again, this very answer is the answer.
 */
export async function readEdit({ policy, redactor, now, viewFor }: ReadEditSeams, found: FoundQuestion, args: unknown): Promise<ReadEdit> {
  const { question, run } = found;
  if (question.isReview === true) return { kind: "invalid", why: "A program under review is approved or denied as it is" };
  if (question.isResult === true) return { kind: "invalid", why: "The call has taken place: its result is handed on as it is, or withheld" };
  const { principal, tool: name } = question;
  const tool = viewFor(principal).pinnedTo(pinnedInterfaces(run, found.entries)).catalog.resolve(name);
  if (tool === undefined) return { kind: "invalid", why: `${name} is not here, so its arguments cannot be checked` };
  const issued = issuedCallOf(found);
  const original = issued?.args.clear === undefined ? undefined : enteredArgs(tool, decodeValue(issued.args.clear));
  const facts = { principal, lane: run.lane, runId: run.runId, callsBefore: issued?.seq ?? 0, taint: (question.taint ?? []).map(({ label }) => label), atMs: now() };
  return await judgeEdit({ policy, redactor }, { tool, given: args, original, facts });
}

export interface Edit {
  readonly tool: CatalogTool;
  /** As the person left what they were shown. */
  readonly given: unknown;
  /** What they were shown was made of this. */
  readonly original: unknown;
  /** What they were shown, where it is not `original` as the tool declares it sensitive. */
  readonly shown?: unknown;
  readonly facts: Pick<PolicyFacts, "principal" | "lane" | "runId" | "callsBefore" | "taint" | "atMs">;
}

/** Holds arguments that a person put in the place of others against the tool's schema and the policy. */
export async function judgeEdit({ policy, redactor }: Pick<ReadEditSeams, "policy" | "redactor">, { tool, given, original, shown, facts }: Edit): Promise<ReadEdit> {
  const { name } = tool;
  const marks = inputMarks(tool);
  const whole = unhidden(given, shown ?? redactor.whole(original ?? null, marks), original);
  const wire = encoded(whole);
  if (typeof wire === "string") return { kind: "invalid", why: wire };
  const parsed = await tool.validateInput(whole);
  if (parsed.kind !== "ok") return { kind: "invalid", why: `The arguments do not fit the schema of ${name}: ${listIssues(parsed.issues)}. Nothing was answered` };
  const decision = policy.decide({ ...facts, tool: name, namespace: tool.namespace, spec: tool.tool, args: parsed.value });
  if (decision.kind === "deny") return { kind: "denied", why: `policy denies ${name} with these arguments: ${decision.reason} (rule ${decision.ruleId})` };
  return { kind: "edit", args: redactor.record(whole, wire, marks), decision };
}

/** A person edits what they were shown, where sensitive values are hashes: one that they left as it was stands for its value. */
function unhidden(edited: unknown, shown: unknown, original: unknown): unknown {
  if (typeof edited === "string") return edited === shown && original !== undefined ? original : edited;
  if (typeof edited !== "object" || edited === null || typeof shown !== "object" || shown === null || typeof original !== "object" || original === null) return edited;
  const [was, is] = [shown as Readonly<Record<string, unknown>>, original as Readonly<Record<string, unknown>>];
  if (Array.isArray(edited)) return edited.map((item, index) => unhidden(item, was[index], is[index]));
  return Object.fromEntries(Object.entries(edited).map(([key, item]) => [key, Object.hasOwn(was, key) && Object.hasOwn(is, key) ? unhidden(item, was[key], is[key]) : item]));
}

function encoded(args: unknown): WireValue | string {
  try {
    return encodeValue(args);
  } catch (fault) {
    if (fault instanceof ValueError) return fault.message;
    throw fault;
  }
}
