import { CallgateError } from "@callgate/contract";
import type { Budget, CircuitBreaker, ConcurrencyLimit, RateLimit } from "@callgate/contract";
import type * as Redis from "@callgate/redis";
import type { CallLimitOptions } from "@callgate/runtime/broker";
import type { CallgateConfig } from "./config/load-config.ts";
import { resolveReferences } from "./config/secret-references.ts";

export interface OpenedCallLimits {
  readonly callLimits: CallLimitOptions;
  readonly notices: readonly string[];
  /** What must never be shown. */
  readonly secrets: readonly string[];
}

/** What holds calls, as a configuration says. Errors: CONFIG_INVALID. */
export async function openCallLimits({ rateLimits = [], concurrencyLimits = [], budgets = [], circuitBreaker, redis }: Pick<CallgateConfig, "rateLimits" | "concurrencyLimits" | "budgets" | "circuitBreaker" | "redis">, host: { readonly folder: string; readonly env: Readonly<Record<string, string | undefined>> }): Promise<OpenedCallLimits> {
  const callLimits: CallLimitOptions = { rateLimits: rateLimits as readonly RateLimit[], concurrencyLimits: concurrencyLimits as readonly ConcurrencyLimit[], budgets: budgets as readonly Budget[], ...(circuitBreaker === undefined ? {} : { circuitBreaker: circuitBreaker as CircuitBreaker }) };
  if (redis === undefined) return { callLimits, notices: [], secrets: [] };
  const { values, secrets } = resolveReferences({ redis }, "the configuration", host);
  const url = values["redis"] ?? "";
  if (!/^rediss?:\/\//.test(url)) throw new CallgateError("CONFIG_INVALID", "redis must refer to a URL that begins with redis:// or rediss://");
  const { connectRedis, createRedisRateStore } = await loadRedis();
  const connection = await connectRedis(url);
  const notices = connection.isReady ? [] : ["Redis does not answer: calls that have a rate limit fail with LIMIT_UNAVAILABLE until it does"];
  return { callLimits: { ...callLimits, rateStore: createRedisRateStore(connection) }, notices, secrets };
}

/** Not everybody needs it, so it is installed by those who do. */
async function loadRedis(): Promise<typeof Redis> {
  try {
    return await import("@callgate/redis");
  } catch (error) {
    throw new CallgateError("CONFIG_INVALID", "redis needs the package @callgate/redis: npm i @callgate/redis", { cause: error });
  }
}
