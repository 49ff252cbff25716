import { CallgateError } from "@callgate/contract";
import type { ResumeOptions } from "./agent.ts";
import type { EscalationItem } from "./agent-result.ts";
import { gateCallsOf } from "./agent-run.ts";
import type { AgentRun } from "./agent-run.ts";
import { inTime } from "./carry-out.ts";
import type { CarriedOut } from "./carry-out.ts";
import type { Ending } from "./finish.ts";
import { takeAnswer } from "./repair.ts";
import { settleCalls } from "./settle-calls.ts";
import type { WaitingCall } from "./session/session-state.ts";
import { userAnswer } from "./tools/ask-user.ts";
import type { CallAnswer } from "./tools/agent-tool.ts";

/** Answers what a saved conversation waits for, as far as there are answers. Undefined: the loop goes on. */
export async function resumeOpen(run: AgentRun, { answers = {}, escalation }: ResumeOptions): Promise<Ending | undefined> {
  const { session } = run;
  const waiting = session.open.flatMap((open) => (open.waiting === undefined ? [] : [open.waiting]));
  if (escalation !== undefined && waiting.length === 0) return takeAnswer(run, itemOf(run), escalation);
  if (waiting.length === 0) throw new CallgateError("USAGE", "Nothing of this conversation waits; give it a task with run");
  const unknown = Object.keys(answers).find((callId) => !waiting.some((one) => one.kind === "question" && one.callId === callId));
  if (unknown !== undefined) throw new CallgateError("USAGE", `No question of call ${unknown} waits for the user. An approval is answered with callgate approvals, never here`);
  // All are looked at before the first counts.
  const said = new Map(waiting.map((one) => [one.callId, one.kind === "question" ? saidTo(one, answers) : undefined]));
  const calls = gateCallsOf(run);
  const done = await Promise.all(session.open.map(async ({ callId, name, waiting: one }): Promise<CarriedOut | undefined> => {
    if (one === undefined) return undefined;
    const startedMs = run.clock.monotonic();
    const answer = one.kind === "question" ? (said.get(callId) ?? stillWaiting(one)) : await inTime(run, (at) => calls.resume(one, at), callId);
    if (one.kind === "question" && said.get(callId) !== undefined) run.emit({ kind: "question-answered", callId, answer: answers[callId] ?? null });
    return { call: { callId, name }, tool: one.tool, answer, durationMs: run.clock.monotonic() - startedMs };
  }));
  return settleCalls(run, done.flatMap((one) => (one === undefined ? [] : [one])));
}

function saidTo({ callId, question }: Extract<WaitingCall, { kind: "question" }>, answers: Readonly<Record<string, unknown>>): CallAnswer | undefined {
  if (!Object.hasOwn(answers, callId)) return undefined;
  const answer = userAnswer(question, (answers as NonNullable<ResumeOptions["answers"]>)[callId] ?? null);
  if (answer.status !== "ok") throw new CallgateError("USAGE", `The answer to call ${callId} is not what was asked for: ${answer.text}`);
  return answer;
}

function stillWaiting(waiting: WaitingCall): CallAnswer {
  return { status: "waiting", text: "It still waits for a person.", effectStatus: "none", runIds: [], waiting };
}

function itemOf({ session }: AgentRun): EscalationItem {
  return { sessionId: session.sessionId, agent: session.agent, task: session.task, errors: [], effects: { done: [], unknown: [] } };
}
