import type { AnswerStore } from "@callgate/contract";
import { RESP_TYPES } from "@redis/client";
import type { RedisConnection } from "./redis-connection.ts";

/**
 * Answers that all processes with the same Redis share, under keys that begin with `callgate:answer:`. Each goes when its
 * time is over; how much there may be in all is Redis's own `maxmemory`. Whose the connection is closes it.
 */
export function createRedisAnswerStore(connection: RedisConnection): AnswerStore {
  const bytes = connection.client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  return {
    async get(key) {
      if (!connection.isReady) return undefined;
      return (await connection.inTime(bytes.get(`callgate:answer:${key}`))) ?? undefined;
    },
    async put(key, sealed, ttlMs) {
      if (!connection.isReady) return;
      await connection.inTime(connection.client.set(`callgate:answer:${key}`, Buffer.from(sealed), { expiration: { type: "PX", value: Math.max(1, Math.floor(ttlMs)) } }));
    },
    close: () => connection.close(),
  };
}
