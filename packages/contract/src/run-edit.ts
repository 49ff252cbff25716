import type { EffectStatus } from "./outcome.ts";

/**
 * What becomes of a call for which a changed program has no recorded answer.
 *
 * - `stop`: the run ends there; nothing is called
 * - `ask`: a person is asked, whatever the policy allows; what it denies is denied
 * - `simulate`: reads are made as the policy says, writes only simulated, as in a rehearsal
 * - `allow`: it is made, as the policy says
 */
export type NewCalls = "stop" | "ask" | "simulate" | "allow";

/** Whose answers a changed program gets, and what becomes of calls that have none. */
export interface RunEdit {
  readonly runId: string;
  readonly newCalls: NewCalls;
}

/** What a recorded call came to when it was made. */
export interface RecordedThen {
  readonly runId: string;
  readonly effectStatus: EffectStatus;
  readonly durationMs: number;
}
