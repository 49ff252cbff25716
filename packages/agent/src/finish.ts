import type { AgentResult, AgentStop } from "./agent-result.ts";
import { surfaceOf } from "./agent-run.ts";
import type { AgentRun } from "./agent-run.ts";
import { functionTools } from "./agent-surface.ts";
import { budgetWords, stopText } from "./answer-texts.ts";
import { askModel, promptTokens } from "./model/ask-model.ts";
import { promptText } from "./prompts.ts";
import { saveSession } from "./session/session.ts";

/** Why a run ends, and with what. */
export interface Ending {
  readonly stop: AgentStop;
  /** Default: made of the stop and of what the calls came to. */
  readonly answer?: string;
  readonly output?: { readonly output: unknown };
}

/** Turns an ending into the result: an answer that can be used, the record closed, the last event told. */
export async function finish(run: AgentRun, ending: Ending): Promise<AgentResult> {
  const { session, meter, emit, record, setup } = run;
  const { stop } = ending;
  if (stop.kind === "budget") emit({ kind: "budget-reached", budget: stop.budget, limit: stop.limit });
  const answer = ending.answer ?? (stop.kind === "budget" ? await closingAnswer(run, stop) : undefined) ?? stopText(stop, meter.calls, setup.options.summaryLine);
  const { model } = setup.options;
  record.keep("end", { stop: stop.kind, answer });
  await record.end({ status: recordStatus(stop), ...(stop.kind === "failed" ? { error: { ...stop.error, tool: "" } } : {}) });
  const result: AgentResult = {
    answer,
    ...(ending.output === undefined ? {} : { output: ending.output.output }),
    stop,
    agent: session.agent,
    model: `${model.provider}/${model.modelId}`,
    usage: meter.usage,
    calls: [...meter.calls],
    effects: { done: [...meter.effects.done], unknown: [...meter.effects.unknown] },
    state: saveSession(session, meter.spent),
    runId: record.runId,
    notices: [...run.notices],
  };
  emit({ kind: "final", result });
  return result;
}

/** Budgets after which one more turn would be more of what is used up. */
const spent: ReadonlySet<string> = new Set(["tokens", "microUsd", "wallMs"]);

/** The model's own words at the end, asked for once and without tools. Undefined where it has none. */
async function closingAnswer(run: AgentRun, { budget, limit }: Extract<AgentStop, { kind: "budget" }>): Promise<string | undefined> {
  const { setup, session, emit, meter } = run;
  const { closing, model, prompts, price } = setup.options;
  if (closing === "summary" || spent.has(budget) || run.signal.aborted) return undefined;
  const { surface } = surfaceOf(run);
  const prompt = { role: "user" as const, content: [{ type: "text" as const, text: promptText("closing", prompts).replace("{budget}", `${limit} ${budgetWords[budget]}`) }] };
  // The functions stay declared: a history with calls of them is refused without.
  const request = { model, system: surface.system, messages: [...session.messages, prompt], tools: functionTools(surface.tools, run.setup.options.strict), toolChoice: "none" as const, limits: { ...run.limits, modelRetries: 0 }, clock: run.clock, signal: run.signal };
  run.turn += 1;
  emit({ kind: "model-start", model: `${model.provider}/${model.modelId}`, messages: request.messages.length, promptTokens: promptTokens(request) });
  const answer = await askModel({ ...request, onDelta: (channel, delta) => emit({ kind: "model-delta", channel, delta }), onRetry: () => undefined });
  if (answer.kind !== "turn") return undefined;
  const { text, finishReason, usage, calls } = answer.turn;
  emit({ kind: "model-end", text, finishReason, usage });
  meter.addTurn(usage, price);
  // A call now would be one without a result.
  if (text.trim() === "" || calls.length > 0) return text.trim() === "" ? undefined : text;
  session.messages.push(prompt, { role: "assistant", content: [{ type: "text", text }] });
  return text;
}

function recordStatus({ kind }: AgentStop): "completed" | "limit" | "cancelled" | "failed" {
  switch (kind) {
    case "answered":
    case "suspended":
    case "defaulted":
    case "taken_over":
      return "completed";
    case "budget":
      return "limit";
    case "cancelled":
    case "aborted":
      return "cancelled";
    case "failed":
    case "escalated":
      return "failed";
  }
}
