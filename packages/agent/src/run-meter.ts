import type { AgentEffects, AgentUsage, BudgetName, CallReport, TurnUsage } from "./agent-result.ts";
import type { AgentLimits, ModelPrice } from "./agent-options.ts";
import { nothingSpent } from "./session/session.ts";
import type { SpentBudget } from "./session/session-state.ts";

/** Counts what a run uses up. What a sub-agent uses up counts for its parent as well. */
export interface RunMeter {
  readonly usage: AgentUsage;
  /** By the task, the runs before this one included. */
  readonly spent: SpentBudget;
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

/**
 * @param earlier what the same task used up in the runs before: it counts for the budgets, and is not in `usage`
 */
export function createRunMeter(limits: Pick<AgentLimits, "turns" | "toolCalls" | "tokens" | "microUsd" | "errors">, { parent, earlier = nothingSpent }: { readonly parent?: RunMeter | undefined; readonly earlier?: SpentBudget } = {}): RunMeter {
  const usage = { turns: 0, toolCalls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, microUsd: 0, isEstimated: false };
  const calls: CallReport[] = [];
  const effects = { done: [] as string[], unknown: [] as string[] };
  let errors = 0;
  const spent = (): SpentBudget => ({ turns: earlier.turns + usage.turns, toolCalls: earlier.toolCalls + usage.toolCalls, tokens: earlier.tokens + usage.inputTokens + usage.outputTokens, microUsd: earlier.microUsd + usage.microUsd });
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
    get spent() {
      return spent();
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
    callsLeft: () => Math.max(0, limits.toolCalls - spent().toolCalls),
    reached() {
      const used = { ...spent(), errors };
      for (const budget of ["microUsd", "tokens", "errors", "toolCalls", "turns"] as const) if (used[budget] >= limits[budget]) return { budget, limit: limits[budget] };
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
