import type { CallSummary, RunError, RunResult, RunWait } from "@callgate/contract";

/** Waits that are told one by one. */
const maxTold = 10;

/** What a suspended run waits for, and what brings it on; for whoever gets its result. */
export function waitsText(runId: string, waits: readonly RunWait[]): readonly string[] {
  const told = waits.slice(0, maxTold).map((wait) => `Waits for ${waitText(runId, wait)}`);
  const more = waits.length > maxTold ? [`Waits for ${waits.length - maxTold} more things`] : [];
  return [...told, ...more, `The run goes on by itself where a worker runs (callgate worker, callgate mcp), else with: callgate runs resume ${runId}. What it did so far stays done; do not run the program again.`];
}

/** One wait: what for, of which call, and the command that brings it on. A call is named by its number; commands take it with its run. */
export function waitText(runId: string, wait: RunWait): string {
  const command = commandOf(runId, wait);
  return `${waitSubject(wait)}${command === undefined ? "" : `: ${command}`}`;
}

/** What a wait is for, and of which call. */
export function waitSubject(wait: RunWait): string {
  switch (wait.kind) {
    case "approval":
      if (wait.question.isReview === true) return `a person to review the program (${wait.question.reason})`;
      return `a person to approve ${wait.question.tool} (call ${wait.seq})`;
    case "timer":
      return `${timeText(wait.untilMs)} (call ${wait.seq})`;
    case "event":
      return `the event "${wait.name}"${wait.untilMs === undefined ? "" : `, until ${timeText(wait.untilMs)}`} (call ${wait.seq})`;
    case "job":
      return `the background job of ${wait.tool}, until ${timeText(wait.untilMs)} (call ${wait.seq})`;
    case "resolution":
      return `a person to say whether ${wait.tool} took effect (call ${wait.seq})`;
  }
}

function commandOf(runId: string, wait: RunWait): string | undefined {
  switch (wait.kind) {
    case "approval":
      return `callgate approvals approve ${wait.question.approvalId}, or deny`;
    case "timer":
      return undefined;
    case "event":
      return `callgate runs signal ${runId} ${JSON.stringify(wait.name)} JSON`;
    case "job":
      return `callgate runs complete ${wait.callId} JSON, where its tool does not tell the end itself`;
    case "resolution":
      return `callgate runs resolve ${wait.callId} --happened or --did-not`;
  }
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** What was undone after a run that failed, and what a person has to see to. */
export function compensationText({ undone, undoneBefore = [], remaining }: NonNullable<RunResult["compensation"]>): readonly string[] {
  const now = undone.filter((callId) => !undoneBefore.includes(callId));
  const before = remaining.length + now.length === 0 ? "Nothing is left to undo. Undone before" : "Undone before";
  return [...undoneText("Undone, last first", now), ...undoneText(before, undoneBefore), ...remaining.slice(0, maxTold).map(({ callId, tool, why }) => `Not undone: ${tool} (${callId}), for ${why}`), ...(remaining.length > maxTold ? [`Not undone: ${remaining.length - maxTold} more calls`] : [])];
}

function undoneText(how: string, undone: readonly string[]): readonly string[] {
  return undone.length === 0 ? [] : [`${how}: ${undone.slice(0, maxTold).join(", ")}${undone.length > maxTold ? ` and ${undone.length - maxTold} more` : ""}`];
}

/** Of a run that its program brought to an end although nobody knows what became of a write: it may have called again, or passed over it. */
export function doubtText(calls: readonly CallSummary[]): readonly string[] {
  const inDoubt = calls.filter(({ effectStatus }) => effectStatus === "unknown");
  if (inDoubt.length === 0) return [];
  const told = inDoubt.slice(0, maxTold).map(({ id, tool }) => `${tool} (${id})`).join(", ");
  return [`Nobody knows whether these took effect: ${told}${inDoubt.length > maxTold ? ` and ${inDoubt.length - maxTold} more` : ""}. Find out before anything of it is done again; say what became of them with callgate runs resolve`];
}

/** A rehearsal is over at once, or not at all. */
export function rehearsalWaits(runId: string, waits: readonly RunWait[]): Pick<RunError, "code" | "message" | "retryable"> {
  const what = waits.map(waitSubject).join(", ");
  return { code: "REHEARSAL_WAITS", message: `The rehearsal ${runId} ended here, for it does not wait: the program waits for ${what === "" ? "something that is not here" : what}. Nothing was changed`, retryable: false };
}
