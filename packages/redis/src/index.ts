// Door: what processes share in Redis.

export { connectRedis } from "./redis-connection.ts";
export type { RedisConnection } from "./redis-connection.ts";
export { createRedisRateStore } from "./redis-rate-store.ts";
