import type { CallCost, CostSpec } from "@callgate/contract";
import type { CallScope } from "./call.ts";

/** What so many attempts of a tool cost as it declares; whole numbers, rounded up. */
export function declaredCost(cost: CostSpec | undefined, attempts: number): CallCost {
  return { tokens: Math.ceil((cost?.tokensPerCall ?? 0) * attempts), microUsd: Math.ceil((cost?.microUsdPerCall ?? 0) * attempts) };
}

/** What a call cost: what its tool reported, else what it declares. Undefined: nothing that anybody knows of. */
export function costOf({ state: { reportedCost } }: CallScope, declared: CostSpec | undefined, attempts: number): CallCost | undefined {
  if (reportedCost === undefined && (declared === undefined || attempts === 0)) return undefined;
  const assumed = declaredCost(declared, attempts);
  const { tokens = assumed.tokens, microUsd = assumed.microUsd } = reportedCost ?? {};
  return { tokens: Math.ceil(tokens), microUsd: Math.ceil(microUsd) };
}
