import { CallgateError } from "@callgate/contract";
import type { CallErrorCode } from "@callgate/contract";

/** Why the journal did not take something, as a program and a model may read it. */
export interface JournalRefusal {
  readonly code: Extract<CallErrorCode, "JOURNAL_LOCKED" | "JOURNAL_UNAVAILABLE" | "RUN_FENCED">;
  /** A clause. The journal's own words name its file, which is for people: they hear them in the event and the notice. */
  readonly why: string;
  /** Whole sentences. */
  readonly toDo: string;
  readonly retryable: boolean;
}

/** Undefined for what is no refusal of the journal but a fault of ours. */
export function journalRefusal(error: unknown): JournalRefusal | undefined {
  if (!CallgateError.is(error)) return undefined;
  const { code, details } = error;
  if (code === "JOURNAL_LOCKED") {
    const who = typeof details["pid"] === "number" ? `process ${details["pid"]}` : "another process";
    return { code, why: `${who} keeps the journal locked for longer than is waited`, toDo: "Try again later; where that process hangs, a person has to end it.", retryable: true };
  }
  if (code === "JOURNAL_UNAVAILABLE" || code === "JOURNAL_CORRUPT") {
    return { code: "JOURNAL_UNAVAILABLE", why: "the journal cannot be written: its disk is full, read-only, damaged or gone", toDo: "A person has to see to it (callgate doctor says more); try again then.", retryable: true };
  }
  if (code === "RUN_NOT_FOUND") return { code: "JOURNAL_UNAVAILABLE", why: "the journal has not taken the beginning of this run: it could not be written then, or its disk is full", toDo: "A person has to see to it (callgate doctor says more); try again then.", retryable: true };
  return code === "RUN_FENCED" ? { code, why: "another process has taken this run over", toDo: "The run goes on there.", retryable: false } : undefined;
}
