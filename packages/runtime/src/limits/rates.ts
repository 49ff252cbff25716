import type { RateLimit, RateStore } from "@callgate/contract";
import { assertWhole, createLimitMatcher } from "./limit-rules.ts";
import type { LimitFacts, LimitMatch } from "./limit-rules.ts";

/** A call that is over a rate limit, or of which that is not known. */
export type RateRefusal = { readonly kind: "over"; readonly limit: RateLimit; readonly retryAfterMs: number } | { readonly kind: "unavailable"; readonly error: unknown };

/** Holds calls to the rate limits of a gate. */
export interface Rates {
  /** Counts one attempt in all limits that mean it, or in none. Undefined: it is within them. */
  take(facts: LimitFacts): Promise<RateRefusal | undefined>;
  /** Takes an attempt off again that did not begin. */
  giveBack(facts: LimitFacts): Promise<void>;
}

const daySeconds = 86_400;

/** Undefined where there is no limit. Errors: `CallgateError` USAGE. */
export function createRates(limits: readonly RateLimit[], store: RateStore): Rates | undefined {
  if (limits.length === 0) return undefined;
  limits.forEach(({ calls, windowSeconds }, index) => {
    assertWhole(`rateLimits[${index}].calls`, calls, [1, 1e9]);
    assertWhole(`rateLimits[${index}].windowSeconds`, windowSeconds, [1, daySeconds]);
  });
  const match = createLimitMatcher("rateLimits", limits);

  async function returnAll(taken: readonly LimitMatch<RateLimit>[]): Promise<void> {
    // A count that cannot be given back is lost to its window, which is the safe side.
    await Promise.allSettled(taken.map(({ rule, key }) => store.giveBack(rule, key)));
  }

  return {
    async take(facts) {
      const taken: LimitMatch<RateLimit>[] = [];
      for (const one of match(facts)) {
        try {
          const answer = await store.take(one.rule, one.key);
          if (answer.kind === "over") {
            await returnAll(taken);
            return { ...answer, limit: one.rule };
          }
          taken.push(one);
        } catch (error) {
          await returnAll(taken);
          return { kind: "unavailable", error };
        }
      }
      return undefined;
    },
    giveBack: (facts) => returnAll(match(facts)),
  };
}
