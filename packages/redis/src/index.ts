// Door: what processes share in Redis.

export { createRedisAnswerStore } from "./redis-answer-store.ts";
export { connectRedis } from "./redis-connection.ts";
export type { RedisConnection } from "./redis-connection.ts";
export { createRedisRateStore } from "./redis-rate-store.ts";
