import { encodeValue } from "@callgate/contract";
import type { GuestCall, GuestCompletion } from "@callgate/contract";
import { builtinAnswered } from "./answered.ts";
import type { Answered } from "./answered.ts";
import type { RunScope } from "./run-scope.ts";
import { readWait } from "./wait-arguments.ts";

export interface RerunHearing {
  readonly ready: (answered: Answered) => void;
  readonly changed: () => void;
}

/** Ends a changed program at a call without a recorded answer, where it is to stop there. Reads of catalog and results are none. */
export function stopsAt({ rerun }: RunScope, issued: GuestCall): boolean {
  if (rerun?.newCalls !== "stop" || issued.kind === "timer" || rerun.answerTo(issued.seq) !== undefined) return false;
  if (issued.kind === "builtin" && issued.name !== "wait_for") return false;
  rerun.stopAt(issued);
  return true;
}

/**
 * Answers a timer or built-in of a changed program: from the record, in its turn; a timer or sleep that is new by the
 * program's clock. False: it is answered like that of any run.
 */
export function answerInRerun({ rerun }: RunScope, issued: Exclude<GuestCall, { kind: "tool" }>, { ready, changed }: RerunHearing): boolean {
  if (rerun === undefined) return false;
  const { seq } = issued;
  const tell = (result: GuestCompletion["result"], atMs: number): void => {
    ready({ ...(issued.kind === "timer" ? { seq, call: { kind: "timer", delayMs: issued.delayMs }, result } : builtinAnswered(issued, result)), atMs });
    changed();
  };
  if (rerun.answerTo(seq) !== undefined) {
    rerun.inTurn(seq, ({ result, atMs }) => tell(result, atMs));
    return true;
  }
  const nowMs = issued.atMs ?? rerun.nowMs;
  if (issued.kind === "timer") {
    rerun.timer(nowMs + issued.delayMs, (atMs) => tell(nothing, atMs));
    return true;
  }
  const sleep = issued.name === "sleep" ? readWait(issued, nowMs) : undefined;
  if (sleep?.kind !== "wait" || sleep.wait.kind !== "timer") return false;
  rerun.timer(sleep.wait.untilMs, (atMs) => tell(sleep.whenOver, atMs));
  return true;
}

const nothing: GuestCompletion["result"] = { kind: "value", value: encodeValue(undefined) };
