import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { AgentRun } from "./agent-run.ts";
import { reportOf, resultPart } from "./carry-out.ts";
import type { CarriedOut } from "./carry-out.ts";
import type { Ending } from "./finish.ts";
import { agentSetupOf } from "./agent-setup.ts";
import type { OpenCall } from "./session/session-state.ts";
import { refused } from "./tools/agent-tool.ts";

/** How a block of code is named among the calls of a turn. */
export const blockName = "block";

/**
 * Gives the calls of a turn their results, one each. Where one waits for a person the others keep theirs until it is
 * answered; nothing of them is done again.
 */
export function settleCalls(run: AgentRun, carried: readonly CarriedOut[]): Ending | undefined {
  const { session, emit, meter, record } = run;
  const done = orderedOut(run, carried);
  const byId = new Map(done.map((one) => [one.call.callId, one]));
  session.open = session.open.map((open) => {
    const one = byId.get(open.callId);
    if (one === undefined) return open;
    const { answer } = one;
    if (answer.waiting !== undefined) return { callId: open.callId, name: open.name, waiting: answer.waiting };
    return { callId: open.callId, name: open.name, answered: { part: resultPart(one), brief: answer.brief ?? answer.text.slice(0, 200) } };
  });
  const reports = done.map(reportOf);
  meter.addCalls(reports, {
    effects: { done: done.flatMap(({ answer }) => answer.effects?.done ?? []), unknown: done.flatMap(({ answer }) => answer.effects?.unknown ?? []) },
    microUsd: done.reduce((sum, { answer }) => sum + (answer.microUsd ?? 0), 0),
  });
  emit({ kind: "tool-call-execution", results: reports });
  record.keep(`results of turn ${meter.usage.turns}`, reports.map(({ callId, tool, status, effectStatus, runIds }) => ({ callId, tool, status, effectStatus, runIds })));
  for (const { answer } of done) if (answer.selected !== undefined) session.selected = answer.selected;

  const waits = session.open.flatMap(({ waiting }) => (waiting === undefined ? [] : [waiting]));
  if (waits.length > 0) return { stop: { kind: "suspended", waits } };
  session.messages.push(resultsMessage(session.open));
  for (const { callId, answered } of session.open) if (answered !== undefined) session.briefs.set(callId, answered.brief);
  session.open = [];

  const final = done.find(({ answer }) => answer.final !== undefined)?.answer.final;
  if (final !== undefined) return { stop: { kind: "answered" }, answer: typeof final.output === "string" ? final.output : JSON.stringify(final.output), output: final };
  handOver(run, done);
  return undefined;
}

/** Of a block of code the result is a message, for it was no call of the provider's. */
function resultsMessage(open: readonly OpenCall[]): LanguageModelV4Message {
  const parts = open.flatMap(({ answered }) => (answered === undefined ? [] : [answered.part]));
  if (open.every(({ name }) => name === blockName)) return { role: "user", content: parts.map(({ output }) => ({ type: "text", text: output.type === "text" || output.type === "error-text" ? output.value : JSON.stringify(output) })) };
  return { role: "tool", content: parts };
}

/** What ends a turn can happen once, and not while another call of the turn waits. */
function orderedOut(run: AgentRun, done: readonly CarriedOut[]): readonly CarriedOut[] {
  const waits = done.some(({ answer }) => answer.waiting !== undefined);
  const first = done.find(({ answer }) => answer.handoff !== undefined && targetOf(run, answer.handoff.to) !== undefined);
  return done.map((one) => {
    const { answer } = one;
    const { handoff } = answer;
    if (waits && (handoff !== undefined || answer.final !== undefined)) return { ...one, answer: refused("not_executed", "Not executed: another call of this turn waits for a person. Call it again once that is answered.") };
    if (handoff === undefined || one === first) return one;
    const isKnown = targetOf(run, handoff.to) !== undefined;
    run.emit({ kind: "handoff", callId: one.call.callId, to: handoff.to, context: handoff.context, ignored: true });
    run.notices.add(isKnown ? `A second handoff, to ${handoff.to}, was ignored: the conversation went to ${first?.answer.handoff?.to ?? "another agent"}` : `A handoff to ${handoff.to} was ignored: there is no such agent`);
    const why = isKnown ? `Not executed: the conversation goes to ${first?.answer.handoff?.to ?? "another agent"} already.` : `Not executed: there is no agent "${handoff.to}" to hand over to.`;
    // What the handler did is done; only the handoff is not.
    return { ...one, answer: { ...answer, status: "not_executed", text: why } };
  });
}

function targetOf({ setup }: AgentRun, name: string): ReturnType<typeof agentSetupOf> | undefined {
  const agent = (setup.options.handoffs ?? []).find((one) => one.name === name);
  return agent === undefined ? undefined : agentSetupOf(agent);
}

/** From here on another agent has the word. It reads the whole conversation, what came of the other calls of this turn included. */
function handOver(run: AgentRun, done: readonly CarriedOut[]): void {
  for (const { answer, call } of done) {
    const target = answer.handoff === undefined || answer.status === "not_executed" ? undefined : targetOf(run, answer.handoff.to);
    if (answer.handoff === undefined || target === undefined) continue;
    const { to, context } = answer.handoff;
    run.emit({ kind: "handoff", callId: call.callId, to, context });
    run.setup = run.within(target);
    run.session.agent = to;
    run.session.selected = undefined;
    if (context !== null) run.session.messages.push({ role: "user", content: [{ type: "text", text: `[Handed over to ${to}] ${typeof context === "string" ? context : JSON.stringify(context)}` }] });
    return;
  }
}
