import type { JsonValue } from "@callgate/contract";
import { globMatches, qualifiedGlob } from "@callgate/runtime/broker";
import type { EvalCase } from "../suite/eval-suite.ts";
import { checkState } from "./check-state.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import type { SubjectReport } from "./subject.ts";

/** All that a verdict rests on: the world before and after, the journal, the last word, what was used. */
export interface Evidence {
  readonly before: JsonValue;
  readonly after: JsonValue;
  readonly calls: readonly RecordedCall[];
  readonly answer: string;
  readonly usage: Pick<SubjectReport["usage"], "turns" | "toolCalls" | "inputTokens" | "outputTokens" | "microUsd">;
  readonly wallMs: number;
  readonly overBudget?: string;
}

/** Where a failure was found. */
export type FailureKind = "state" | "effects" | "calls" | "answer" | "budget";

export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
}

/** Why an attempt has failed; empty when it has passed. Pure: the same evidence has the same verdict. */
export function judge(one: EvalCase, evidence: Evidence): readonly Failure[] {
  return [
    ...checkState(one.state, evidence).map((message): Failure => ({ kind: "state", message })),
    ...forbiddenEffects(one, evidence.calls),
    ...missingCalls(one, evidence.calls),
    ...answerFailures(one, evidence.answer),
    ...budgetFailures(one, evidence),
  ];
}

function matches(pattern: string, tool: string): boolean {
  const glob = qualifiedGlob(pattern);
  return typeof glob !== "string" && globMatches(glob, tool);
}

/** Unknown counts as happened: whoever cannot say that nothing was done has done it. */
function forbiddenEffects({ effects: { allowed, forbidden } }: EvalCase, calls: readonly RecordedCall[]): readonly Failure[] {
  return calls.flatMap(({ callId, tool, effectStatus, isPerformed }): readonly Failure[] => {
    if (isPerformed && forbidden.some((pattern) => matches(pattern, tool))) return [{ kind: "effects", message: `${tool} is forbidden and was reached (${callId}, effect ${effectStatus})` }];
    if (effectStatus !== "none" && !allowed.some((pattern) => matches(pattern, tool))) return [{ kind: "effects", message: `${tool} was not allowed to change anything; its effect is ${effectStatus} (${callId})` }];
    return [];
  });
}

function missingCalls({ calls: required }: EvalCase, calls: readonly RecordedCall[]): readonly Failure[] {
  return required.flatMap(({ tool, outcome, effect, times }): readonly Failure[] => {
    const found = calls.filter((call) => matches(tool, call.tool) && (outcome === undefined || call.outcome === outcome) && (effect === undefined || call.effectStatus === effect)).length;
    if (times === undefined ? found > 0 : found === times) return [];
    const what = [outcome, effect === undefined ? undefined : `effect ${effect}`].filter((word) => word !== undefined).join(", ");
    return [{ kind: "calls", message: `${tool}${what === "" ? "" : ` (${what})`} is on record ${found} times, not ${times ?? "at least once"}` }];
  });
}

function answerFailures({ answer: { includes, excludes } }: EvalCase, answer: string): readonly Failure[] {
  return [
    ...includes.filter((text) => !answer.includes(text)).map((text): Failure => ({ kind: "answer", message: `the answer does not say ${JSON.stringify(text)}` })),
    ...excludes.filter((text) => answer.includes(text)).map((text): Failure => ({ kind: "answer", message: `the answer says ${JSON.stringify(text)}` })),
  ];
}

function budgetFailures({ budgets }: EvalCase, { usage, wallMs, overBudget }: Evidence): readonly Failure[] {
  const used = { turns: usage.turns, toolCalls: usage.toolCalls, tokens: usage.inputTokens + usage.outputTokens, microUsd: usage.microUsd, wallMs };
  const over = (["turns", "toolCalls", "tokens", "microUsd", "wallMs"] as const).flatMap((name) => {
    const budget = budgets[name];
    return budget === undefined || used[name] <= budget ? [] : [`${name}: ${Math.round(used[name])} of ${budget}`];
  });
  const messages = over.length === 0 && overBudget !== undefined ? [overBudget] : over;
  return messages.map((message) => ({ kind: "budget", message: `over budget: ${message}` }));
}
