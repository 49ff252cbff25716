import { join } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { Clock, SharedAnswers } from "@callgate/contract";
import { createSealedAnswers, createSqliteAnswerStore } from "@callgate/runtime/journal";
import type { MasterKey } from "@callgate/runtime/journal";
import type { CallgateConfig } from "./config/load-config.ts";
import type { OpenedRedis } from "./open-redis.ts";

export interface AnswersPlace {
  readonly stateFolder: string;
  readonly clock: Clock;
  readonly key: MasterKey;
  readonly redis: OpenedRedis | undefined;
}

/** Where answers are kept between processes; undefined: nowhere. Errors: CONFIG_INVALID. */
export function openAnswers({ store = "memory", maxMiB }: NonNullable<CallgateConfig["cache"]>, { stateFolder, clock, key, redis }: AnswersPlace): SharedAnswers | undefined {
  if (maxMiB !== undefined && store !== "sqlite") throw new CallgateError("CONFIG_INVALID", `cache.maxMiB is the size of a file, and cache.store is "${store}"; ${store === "redis" ? "set Redis's own maxmemory" : "memory has a bound of its own"}`);
  switch (store) {
    case "memory":
      return undefined;
    case "sqlite":
      return createSealedAnswers(createSqliteAnswerStore({ path: join(stateFolder, "answers.db"), clock, ...(maxMiB === undefined ? {} : { maxBytes: maxMiB * 1024 * 1024 }) }), key);
    case "redis":
      if (redis === undefined) throw new CallgateError("CONFIG_INVALID", 'cache.store is "redis", and redis says no URL: add "redis": "env:REDIS_URL"');
      return createSealedAnswers(redis.answerStore, key);
  }
}
