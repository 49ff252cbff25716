import type { Clock, ParseResult } from "@callgate/contract";
import { race } from "../lib/race.ts";
import type { Raced } from "../lib/race.ts";
import type { Stop } from "../lib/stop.ts";

export interface JudgeOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly stop?: Stop;
  /** An author's own schema is foreign code and may hang; a JSON Schema alone is ours and cannot, which saves a timer a call. */
  readonly byAuthor: boolean;
}

/** Holds a value against a schema; at once where no author's schema takes part. Never rejects. */
export function judge(work: () => ParseResult | Promise<ParseResult>, options: JudgeOptions): Raced<ParseResult> | Promise<Raced<ParseResult>> {
  if (options.byAuthor) return race(work, options);
  if (options.stop?.aborted === true) return { kind: "cancelled" };
  try {
    const judged = work();
    return judged instanceof Promise ? race(() => judged, { clock: options.clock }) : { kind: "value", value: judged };
  } catch (error) {
    return { kind: "threw", error };
  }
}
