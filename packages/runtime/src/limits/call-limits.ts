import type { Budget, CircuitBreaker, ConcurrencyLimit, RateLimit, RateStore } from "@callgate/contract";
import { createBudgets } from "./budgets.ts";
import type { Budgets } from "./budgets.ts";
import { createCircuitBreakers } from "./circuit-breakers.ts";
import type { CircuitBreakers, CircuitListener } from "./circuit-breakers.ts";
import { assertWhole, createLimitMatcher } from "./limit-rules.ts";
import type { LimitFacts, LimitMatch } from "./limit-rules.ts";
import { createMemoryRateStore } from "./memory-rate-store.ts";
import { createRates } from "./rates.ts";
import type { Rates } from "./rates.ts";

/** What holds calls, beside the bounds of their run and what their tools declare. What is left out costs nothing. */
export interface CallLimitOptions {
  readonly rateLimits?: readonly RateLimit[];
  /** Where the counts of rate limits are kept. Default: in this process. */
  readonly rateStore?: RateStore;
  readonly concurrencyLimits?: readonly ConcurrencyLimit[];
  /** How much may be used up; counted in the journal. */
  readonly budgets?: readonly Budget[];
  /** Which sources are left alone when they fail. Default: none. */
  readonly circuitBreaker?: CircuitBreaker;
}

export interface CallLimits {
  readonly rates: Rates | undefined;
  readonly budgets: Budgets | undefined;
  readonly breakers: CircuitBreakers | undefined;
  readonly concurrency: ((facts: LimitFacts) => readonly LimitMatch<ConcurrencyLimit>[]) | undefined;
}

/** Undefined where nothing is limited. Errors: `CallgateError` USAGE. */
export function createCallLimits(options: CallLimitOptions, circuitChanged: CircuitListener = () => undefined): CallLimits | undefined {
  const { rateLimits = [], rateStore, concurrencyLimits = [] } = options;
  concurrencyLimits.forEach(({ calls, maxWaitMs = 0 }, index) => {
    assertWhole(`concurrencyLimits[${index}].calls`, calls, [1, 1e6]);
    assertWhole(`concurrencyLimits[${index}].maxWaitMs`, maxWaitMs, [0, 86_400_000]);
  });
  const rates = createRates(rateLimits, rateStore ?? createMemoryRateStore());
  const concurrency = concurrencyLimits.length === 0 ? undefined : createLimitMatcher("concurrencyLimits", concurrencyLimits);
  const limits = { rates, concurrency, budgets: createBudgets(options.budgets ?? []), breakers: createCircuitBreakers(options.circuitBreaker, circuitChanged) };
  return Object.values(limits).every((one) => one === undefined) ? undefined : limits;
}
