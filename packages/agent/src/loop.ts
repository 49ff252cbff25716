// The loop, whole: ask the model, carry out what it asks for, give it what came of that, until it answers or something
// ends it. Everything that is not the order of these things is in a file of its own:
//
//   is it over?          a cancel, the wall time, a budget                              run-meter.ts
//   make room            old results become their handles                               session/compact-history.ts
//   what it is shown     prompts and functions of its mode                              agent-surface.ts
//   ask                  one whole answer, asked for again where it broke off           model/ask-model.ts
//   its calls            carried out several at once, one result each                   carry-out.ts, settle-calls.ts
//   its code             in mode blocks: run, its output the next message               blocks-turn.ts
//   its text             the answer, where it is one                                    text-turn.ts
//   what went wrong      told, tried again within a bound, then a person or a default   repair.ts
//   the end              an answer that can be used, whatever ended it                  finish.ts
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { AgentResult } from "./agent-result.ts";
import { surfaceOf } from "./agent-run.ts";
import type { AgentRun } from "./agent-run.ts";
import { functionTools } from "./agent-surface.ts";
import type { AgentSurface } from "./agent-surface.ts";
import { blocksTurn } from "./blocks-turn.ts";
import { carryOut } from "./carry-out.ts";
import { finish } from "./finish.ts";
import type { Ending } from "./finish.ts";
import { askModel, promptTokens } from "./model/ask-model.ts";
import type { ModelAnswer } from "./model/ask-model.ts";
import type { ModelCall, ModelTurn } from "./model/model-turn.ts";
import { repairOrEscalate } from "./repair.ts";
import { compactHistory } from "./session/compact-history.ts";
import { settleCalls } from "./settle-calls.ts";
import { textTurn } from "./text-turn.ts";

/**
 * Runs until there is an ending; never rejects for what a model, a tool or a person can do.
 *
 * After each turn every call of the model has exactly one result in the history, or waits in `session.open`: at any point
 * between two turns the session can be saved, and goes on from there.
 *
 * @param ending where it has one already: a resumed conversation that still waits
 */
export async function runLoop(run: AgentRun, ending?: Ending): Promise<AgentResult> {
  let end = ending;
  while (end === undefined) end = interruption(run) ?? (await takeTurn(run));
  return await finish(run, end);
}

/** What ends a run between turns. */
function interruption(run: AgentRun): Ending | undefined {
  if (run.isCancelled()) return { stop: { kind: "cancelled" } };
  const reached = run.signal.aborted ? { budget: "wallMs" as const, limit: run.limits.wallMs } : run.meter.reached();
  return reached === undefined ? undefined : { stop: { kind: "budget", ...reached } };
}

async function takeTurn(run: AgentRun): Promise<Ending | undefined> {
  const { session, emit } = run;
  const compacted = compactHistory(session, run.limits.historyTokens);
  if (compacted !== undefined) emit({ kind: "history-compacted", ...compacted });

  const { surface, calls: gateCalls } = surfaceOf(run);
  const answer = await ask(run, surface);
  // Who or what aborted is told by `interruption`.
  if (answer.kind === "aborted") return undefined;
  if (answer.kind === "failed") return { stop: { kind: "failed", error: answer.error } };

  const { turn } = answer;
  keep(run, turn);
  if (surface.mode === "blocks") return await blocksTurn(run, gateCalls, turn);
  if (turn.calls.length === 0) return await textTurn(run, turn);
  return await callsTurn(run, surface, turn.calls);
}

async function ask(run: AgentRun, surface: AgentSurface): Promise<ModelAnswer> {
  const { setup, session, emit } = run;
  const { model } = setup.options;
  const request = { model, system: surface.system, messages: session.messages, tools: functionTools(surface.tools, setup.options.strict), toolChoice: surface.toolChoice, limits: run.limits, clock: run.clock, signal: run.signal };
  run.turn += 1;
  emit({ kind: "model-start", model: `${model.provider}/${model.modelId}`, messages: session.messages.length, promptTokens: promptTokens(request) });
  return await askModel({
    ...request,
    onDelta: (channel, delta) => emit({ kind: "model-delta", channel, delta }),
    onRetry: (attempt, reason) => emit({ kind: "model-retry", attempt, reason }),
  });
}

/** A whole turn is history from here on, whatever becomes of its calls. */
function keep(run: AgentRun, { text, content, calls, finishReason, usage }: ModelTurn): void {
  const { session, meter, emit, record, setup } = run;
  emit({ kind: "model-end", text, finishReason, usage });
  meter.addTurn(usage, setup.options.price);
  if (content.length > 0) session.messages.push({ role: "assistant", content } satisfies LanguageModelV4Message);
  record.keep(`turn ${meter.usage.turns}`, { agent: setup.name, text, finishReason, usage: { ...usage }, calls: calls.map(({ callId, name, input }) => ({ callId, name, input })) });
}

async function callsTurn(run: AgentRun, { tools }: AgentSurface, calls: readonly ModelCall[]): Promise<Ending | undefined> {
  const { session, emit } = run;
  session.open = calls.map(({ callId, name }) => ({ callId, name }));
  emit({ kind: "tool-call-request", calls: calls.map(({ callId, name, input }) => ({ callId, tool: tools.find((tool) => tool.name === name)?.tool ?? name, input: inputOf(input) })) });
  const done = await carryOut(run, tools, calls);
  const settled = settleCalls(run, done);
  if (settled !== undefined) return settled;
  return await repairOrEscalate(run, done, (index) => calls[index]?.input);
}

function inputOf(input: string): string | Readonly<Record<string, never>> {
  try {
    return JSON.parse(input === "" ? "{}" : input) as Readonly<Record<string, never>>;
  } catch {
    return input;
  }
}
