import type { AgentEffects, AgentUsage, BudgetName, CallReport, TurnUsage } from "./agent-result.ts";
import type { AgentLimits, ModelPrice } from "./agent-options.ts";

/** Counts what a run uses up. What a sub-agent uses up counts for its parent as well. */
export interface RunMeter {
  readonly usage: AgentUsage;
  readonly calls: readonly CallReport[];
  readonly effects: AgentEffects;
  addTurn(usage: TurnUsage, price: ModelPrice | undefined): void;
  addCalls(reports: readonly CallReport[], more: CallSpending): void;
  /** Of calls that a sub-agent reports. */
  spend(toolCalls: number, more: CallSpending): void;
  /** How many calls are left. */
  callsLeft(): number;
  /** The first budget that is used up, of this run or of the one it is part of. */
  reached(): { readonly budget: BudgetName; readonly limit: number } | undefined;
  /** Turns in a row in which every call failed. */
  erred(failed: boolean): void;
}

/** What calls did and cost. */
interface CallSpending {
  readonly effects: AgentEffects;
  readonly microUsd: number;
}

export function createRunMeter(limits: Pick<AgentLimits, "turns" | "toolCalls" | "tokens" | "microUsd" | "errors">, parent?: RunMeter): RunMeter {
  const usage = { turns: 0, toolCalls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, microUsd: 0, isEstimated: false };
  const calls: CallReport[] = [];
  const effects = { done: [] as string[], unknown: [] as string[] };
  let errors = 0;
  function spend(toolCalls: number, more: CallSpending): void {
    parent?.spend(toolCalls, more);
    usage.toolCalls += toolCalls;
    usage.microUsd += more.microUsd;
    effects.done.push(...more.effects.done);
    effects.unknown.push(...more.effects.unknown);
  }

  return {
    get usage() {
      return { ...usage };
    },
    calls,
    effects,
    addTurn(turn, price) {
      parent?.addTurn(turn, price);
      usage.turns += 1;
      usage.inputTokens += turn.inputTokens;
      usage.cachedTokens += turn.cachedTokens;
      usage.outputTokens += turn.outputTokens;
      usage.microUsd += price === undefined ? 0 : turnCost(turn, price);
      usage.isEstimated ||= turn.isEstimated;
    },
    spend,
    addCalls(reports, more) {
      calls.push(...reports);
      spend(reports.length, more);
    },
    callsLeft: () => Math.max(0, limits.toolCalls - usage.toolCalls),
    reached() {
      const spent = { turns: usage.turns, toolCalls: usage.toolCalls, tokens: usage.inputTokens + usage.outputTokens, microUsd: usage.microUsd, errors };
      for (const budget of ["microUsd", "tokens", "errors", "toolCalls", "turns"] as const) if (spent[budget] >= limits[budget]) return { budget, limit: limits[budget] };
      return parent?.reached();
    },
    erred(failed) {
      errors = failed ? errors + 1 : 0;
    },
  };
}

/** Millionths of a US dollar. */
export function turnCost({ inputTokens, cachedTokens, outputTokens }: TurnUsage, { inputMicroUsdPerMTok, cachedMicroUsdPerMTok = inputMicroUsdPerMTok, outputMicroUsdPerMTok }: ModelPrice): number {
  const cached = Math.min(cachedTokens, inputTokens);
  return Math.ceil(((inputTokens - cached) * inputMicroUsdPerMTok + cached * cachedMicroUsdPerMTok + outputTokens * outputMicroUsdPerMTok) / 1_000_000);
}
