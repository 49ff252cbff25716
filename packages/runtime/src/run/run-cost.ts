import type { CallCost, CallSummary } from "@callgate/contract";

/** What calls cost together; nothing where no tool declares or reports any. */
export function runCost(calls: readonly CallSummary[]): { readonly cost?: CallCost } {
  const costs = calls.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  if (costs.length === 0) return {};
  return { cost: costs.reduce((sum, { tokens, microUsd }) => ({ tokens: sum.tokens + tokens, microUsd: sum.microUsd + microUsd })) };
}
