import { CallgateError } from "@callgate/contract";
import type { AnswerSigner, ApprovalRules, Principal, RunSignal } from "@callgate/contract";
import { createAnswerJudge } from "../approval/answer-judge.ts";
import { signWord } from "../approval/word-digest.ts";
import type { CallWord, UnsignedWord } from "../approval/word-digest.ts";

/** Who says it: a person with a key of theirs, or whoever calls. */
export interface Speaker {
  readonly principal: Principal;
  readonly signer: AnswerSigner | undefined;
}

/** What people and the host say of calls, in a form that counts (docs/decisions/0039-words-that-settle-a-call.md). */
export interface CallWords {
  /** Signed where it can be. Errors: SIGNAL_REFUSED where it would not count; nothing was said then. */
  of(word: UnsignedWord, speaker: Speaker): CallWord;
  /** Looks at the one that is on record: the first. Errors: SIGNAL_REFUSED where that one does not count, for then neither does a later one. */
  assertCounts(first: RunSignal): void;
}

export function createCallWords(rules: ApprovalRules): CallWords {
  const judge = createAnswerJudge(rules);
  return {
    of(word, { principal, signer = rules.signer }) {
      const said: CallWord = signer === undefined ? { ...word, by: principal.user } : signWord(word, signer);
      const why = judge.wordRefusal(said);
      if (why === undefined) return said;
      const help = signer === undefined ? ". The command asks for the passphrase of an approver; a program hands in a signer (docs/guide/approvals.md)" : "";
      throw refused(word.callId, `Nothing was said of call ${word.callId}, for it would not count: ${why}${help}`);
    },
    assertCounts(first) {
      if (first.kind !== "job" && first.kind !== "resolution") return;
      const why = judge.wordRefusal(first);
      if (why === undefined) return;
      const next = first.kind === "job" ? "the call ends as failed when its run goes on" : "go on with the run (callgate runs resume, or a worker), which takes that one off, and say it again";
      throw refused(first.callId, `Nothing was kept for call ${first.callId}: one in the name of ${first.by} is on record before it, and does not count, for ${why}. What now: ${next}`);
    },
  };
}

function refused(callId: string, message: string): CallgateError {
  return new CallgateError("SIGNAL_REFUSED", message, { details: { callId } });
}
