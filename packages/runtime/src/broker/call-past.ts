import type { ApprovalQuestion, JournalEntry, JsonValue, RecordedValue, RunSignal, RunWait } from "@callgate/contract";

/** What is known of a call that was issued before: in an earlier stretch of its run, or before it was parked. */
export interface CallPast {
  /** Its `call-issued` is on record. */
  readonly issued: boolean;
  /** It was let through, so a write may have taken place. */
  readonly begun: boolean;
  /** How often its effect was in doubt and was settled. */
  readonly resolved: number;
  /** A person was asked, and no answer was acted on. */
  readonly question?: ApprovalQuestion;
  /** What a person put in the place of its arguments, once that was accepted. */
  readonly edited?: RecordedValue;
  /** It has taken place, and its result waits for a word. */
  readonly held?: HeldResult;
  /** Its work goes on outside: what the tool needs to find it again. */
  readonly job?: { readonly token: JsonValue; readonly untilMs: number; readonly pollAtMs?: number };
  /** What was said to it since: the answer to the question, the end of the job, or what became of the write. */
  readonly said?: Extract<RunSignal, { kind: "approval" | "job" | "resolution" }>;
}

/** What is kept of a call whose result waits. */
export type HeldResult = Pick<Extract<JournalEntry, { kind: "result-held" }>, "effectStatus" | "attempts" | "result" | "artifacts">;

/** A call that can go on only when something happens outside. Nothing of it is held: handed in again, it goes on. */
export interface ParkedCall {
  readonly kind: "parked";
  readonly wait: Extract<RunWait, { kind: "approval" | "job" | "resolution" }>;
  /** With what is said or comes due, for the next `perform`. */
  readonly past: CallPast;
}
