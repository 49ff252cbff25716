import type { RateLimit, RateStore } from "@callgate/contract";
import type { RateLimiterMemory } from "rate-limiter-flexible";

/** Loaded when the first call is counted: most gates have no rate limit, and none waits for it at its start. */
const load = () => import("rate-limiter-flexible");

/** Counts of this process. Their time is the host's; a count that nobody adds to is gone when its window is over. */
export function createMemoryRateStore(): RateStore {
  const limiters = new Map<string, RateLimiterMemory>();

  async function limiterOf({ id, calls, windowSeconds }: RateLimit): Promise<RateLimiterMemory> {
    const { RateLimiterMemory: Limiter } = await load();
    let limiter = limiters.get(id);
    if (limiter === undefined) limiters.set(id, (limiter = new Limiter({ keyPrefix: "", points: calls, duration: windowSeconds })));
    return limiter;
  }

  async function giveBack(limit: RateLimit, key: string): Promise<void> {
    const limiter = await limiterOf(limit);
    const known = await limiter.get(key);
    // Of a window that is over nothing is left to give back; it would be given to the next.
    if (known !== null && known.msBeforeNext > 0) await limiter.reward(key);
  }

  return {
    giveBack,
    async take(limit, key) {
      try {
        await (await limiterOf(limit)).consume(key);
        return { kind: "taken" };
      } catch (over) {
        const { RateLimiterRes } = await load();
        if (!(over instanceof RateLimiterRes)) throw over;
        await giveBack(limit, key);
        return { kind: "over", retryAfterMs: Math.max(1, Math.ceil(over.msBeforeNext)) };
      }
    },
    close: () => Promise.resolve(),
  };
}
