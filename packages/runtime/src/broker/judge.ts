import type { Clock, ParseResult } from "@callgate/contract";
import { race } from "../lib/race.ts";
import type { Raced } from "../lib/race.ts";

export interface JudgeOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** An author's own schema is foreign code and may hang; a JSON Schema alone is ours and cannot, which saves a timer a call. */
  readonly byAuthor: boolean;
}

/** Holds a value against a schema. Never rejects. */
export async function judge(work: () => Promise<ParseResult>, options: JudgeOptions): Promise<Raced<ParseResult>> {
  if (options.byAuthor) return await race(work, options);
  if (options.signal?.aborted === true) return { kind: "cancelled" };
  try {
    return { kind: "value", value: await work() };
  } catch (error) {
    return { kind: "threw", error };
  }
}
