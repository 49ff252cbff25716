import type { Clock } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";

/** Bounds how much a run may ask: a person who is asked hundreds of times answers without reading. */
export interface AskingRate {
  /** Counts one question more. The reason, when it is one too many: nobody is asked then. */
  refusal(runId: string): string | undefined;
}

const minuteMs = 60_000;
const defaultMaxPerMinute = 100;
const maxRuns = 10_000;

export function createAskingRate({ clock, maxPerMinute = defaultMaxPerMinute }: { readonly clock: Clock; readonly maxPerMinute?: number }): AskingRate {
  const asked = new LRUCache<string, { sinceMs: number; count: number }>(atMost(maxRuns));
  return {
    refusal(runId) {
      const nowMs = clock.monotonic();
      const before = asked.get(runId);
      const current = before === undefined || nowMs - before.sinceMs >= minuteMs ? { sinceMs: nowMs, count: 0 } : before;
      asked.set(runId, current);
      if (current.count >= maxPerMinute) return `This run has asked ${maxPerMinute} questions within a minute, more than a person can read`;
      current.count += 1;
      return undefined;
    },
  };
}
