import type { AgentRun } from "./agent-run.ts";
import type { EscalationAnswer, EscalationItem } from "./agent-result.ts";
import type { CarriedOut } from "./carry-out.ts";
import type { Ending } from "./finish.ts";

/** Errors that an escalation tells. */
const maxErrors = 10;

/**
 * Counts what could not be done as it was written. The model has been told why and writes it anew, a bounded number of
 * times; then a person is needed. A refusal is no such thing: it is not tried again at all.
 *
 * @param inputOf the arguments of a call of the turn
 */
export async function repairOrEscalate(run: AgentRun, done: readonly CarriedOut[], inputOf: (index: number) => string | undefined): Promise<Ending | undefined> {
  run.meter.erred(done.length > 0 && done.every(({ answer: { status } }) => status === "failed" || status === "invalid"));
  if (done.some(({ answer }) => answer.status === "ok")) run.repairs = [];
  const index = done.findIndex(isRepairable);
  const bad = done[index];
  if (bad === undefined || done.some(({ answer }) => answer.status === "ok")) return undefined;
  run.lastCode = inputOf(index);
  return await countRepair(run, `${bad.tool}: ${bad.answer.text}`);
}

/** What another text may mend: arguments, names, programs. A tool that failed did so whatever the model wrote. */
function isRepairable({ answer, tool }: CarriedOut): boolean {
  return answer.status === "invalid" || (answer.status === "failed" && tool === "execute_code");
}

/** One more repair, or the end of them. */
export async function countRepair(run: AgentRun, reason: string): Promise<Ending | undefined> {
  run.repairs.push(reason);
  const attempt = run.repairs.length;
  if (attempt > run.limits.repairs) return await escalate(run);
  run.emit({ kind: "repair", attempt, maxAttempts: run.limits.repairs, reason: reason.slice(0, 500) });
  return undefined;
}

async function escalate(run: AgentRun): Promise<Ending | undefined> {
  const { setup: { options: { safeDefault, onEscalation } }, signal, session, meter } = run;
  const item: EscalationItem = { sessionId: session.sessionId, agent: session.agent, task: session.task, ...(run.lastCode === undefined ? {} : { lastCode: run.lastCode }), errors: run.repairs.slice(-maxErrors), effects: { done: [...meter.effects.done], unknown: [...meter.effects.unknown] } };
  run.emit({ kind: "escalation", item });
  if (safeDefault !== undefined) return { stop: { kind: "defaulted", item }, answer: typeof safeDefault === "string" ? safeDefault : JSON.stringify(safeDefault), output: { output: safeDefault } };
  if (onEscalation === undefined) return { stop: { kind: "escalated", item } };
  try {
    return takeAnswer(run, item, await onEscalation(item, signal));
  } catch (fault) {
    run.notices.add(`The escalation was not answered: ${fault instanceof Error ? fault.message : String(fault)}`);
    return { stop: { kind: "escalated", item } };
  }
}

/** What a person said. With a hint the model goes on. */
export function takeAnswer(run: Pick<AgentRun, "session" | "repairs">, item: EscalationItem, answer: EscalationAnswer): Ending | undefined {
  switch (answer.kind) {
    case "retry":
      run.repairs.length = 0;
      run.session.messages.push({ role: "user", content: [{ type: "text", text: `Try again. A hint: ${answer.hint}` }] });
      return undefined;
    case "take_over":
      return { stop: { kind: "taken_over", item }, answer: answer.answer };
    case "abort":
      return { stop: { kind: "aborted", item } };
  }
}
