import type { Budget, CircuitBreaker, ConcurrencyLimit, RateLimit, RateStore } from "@callgate/contract";
import type { CallLimitOptions } from "@callgate/runtime/broker";
import type { CallgateConfig } from "./config/load-config.ts";

/** What holds calls, as a configuration says; the gate judges it. */
export function callLimitOptions({ rateLimits = [], concurrencyLimits = [], budgets = [], circuitBreaker }: Pick<CallgateConfig, "rateLimits" | "concurrencyLimits" | "budgets" | "circuitBreaker">, rateStore: RateStore | undefined): CallLimitOptions {
  return {
    rateLimits: rateLimits as readonly RateLimit[],
    concurrencyLimits: concurrencyLimits as readonly ConcurrencyLimit[],
    budgets: budgets as readonly Budget[],
    ...(circuitBreaker === undefined ? {} : { circuitBreaker: circuitBreaker as CircuitBreaker }),
    ...(rateStore === undefined ? {} : { rateStore }),
  };
}
