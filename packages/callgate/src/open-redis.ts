import { CallgateError } from "@callgate/contract";
import type { AnswerStore, RateStore } from "@callgate/contract";
import type * as Redis from "@callgate/redis";
import { resolveReferences } from "./config/secret-references.ts";

/** What a configured Redis is used for. The connection is closed with the first of its stores that is. */
export interface OpenedRedis {
  readonly rateStore: RateStore;
  readonly answerStore: AnswerStore;
  readonly notices: readonly string[];
  /** What must never be shown. */
  readonly secrets: readonly string[];
}

/** Undefined where none is configured. Errors: CONFIG_INVALID. One that does not answer is a notice. */
export async function openRedis(reference: string | undefined, host: { readonly folder: string; readonly env: Readonly<Record<string, string | undefined>> }): Promise<OpenedRedis | undefined> {
  if (reference === undefined) return undefined;
  const { values, secrets } = resolveReferences({ redis: reference }, "the configuration", host);
  const url = values["redis"] ?? "";
  if (!/^rediss?:\/\//.test(url)) throw new CallgateError("CONFIG_INVALID", "redis must refer to a URL that begins with redis:// or rediss://");
  const { connectRedis, createRedisAnswerStore, createRedisRateStore } = await loadPackage();
  const connection = await connectRedis(url);
  const notices = connection.isReady ? [] : ["Redis does not answer: until it does, calls that have a rate limit fail with LIMIT_UNAVAILABLE, and no answer is shared"];
  return { rateStore: createRedisRateStore(connection), answerStore: createRedisAnswerStore(connection), notices, secrets };
}

/** Not everybody needs it, so it is installed by those who do. */
async function loadPackage(): Promise<typeof Redis> {
  try {
    return await import("@callgate/redis");
  } catch (error) {
    throw new CallgateError("CONFIG_INVALID", "redis needs the package @callgate/redis: npm i @callgate/redis", { cause: error });
  }
}
