import { createHash } from "node:crypto";
import type { RateLimit, RateStore } from "@callgate/contract";
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import type { RedisConnection } from "./redis-connection.ts";

/**
 * Counts up, never above the limit, and down, never in a window that is over. The library's own script counts what is over
 * as well, and begins a new window with what is given back late. KEYS: the count. ARGV: by how much, the window's
 * seconds, the limit. Answers the count as it would be, and how long the window lasts.
 */
const countScript = `
local by = tonumber(ARGV[1])
local left = redis.call('pttl', KEYS[1])
if left < 0 then
  if by < 0 then return {0, 0} end
  redis.call('set', KEYS[1], by, 'EX', ARGV[2])
  return {by, 1000 * tonumber(ARGV[2])}
end
local count = tonumber(redis.call('get', KEYS[1])) + by
if by > 0 and count > tonumber(ARGV[3]) then return {count, left} end
redis.call('incrby', KEYS[1], by)
return {count, left}`;

/** Counts that all processes with the same Redis share. Their time is the server's. Keys begin with `callgate:rate:`. */
export function createRedisRateStore(connection: RedisConnection): RateStore {
  const limiters = new Map<string, RateLimiterRedis>();

  function limiterOf({ id, calls, windowSeconds }: RateLimit): RateLimiterRedis {
    let limiter = limiters.get(id);
    if (limiter === undefined) {
      limiter = new RateLimiterRedis({ storeClient: connection.client, useRedisPackage: true, rejectIfRedisNotReady: true, customIncrTtlLuaScript: countScript, keyPrefix: `callgate:rate:${id}`, points: calls, duration: windowSeconds });
      limiters.set(id, limiter);
    }
    return limiter;
  }

  return {
    async take(limit, key) {
      try {
        await connection.inTime(limiterOf(limit).consume(nameOf(key)));
        return { kind: "taken" };
      } catch (over) {
        if (!(over instanceof RateLimiterRes)) throw over;
        return { kind: "over", retryAfterMs: Math.max(1, Math.ceil(over.msBeforeNext)) };
      }
    },
    async giveBack(limit, key) {
      await connection.inTime(limiterOf(limit).reward(nameOf(key)));
    },
    close: () => connection.close(),
  };
}

/** Who calls is not for whoever may look into a Redis, and names may be of any length. */
function nameOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}
