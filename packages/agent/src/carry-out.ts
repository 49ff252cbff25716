import type { LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import { createSlots, race } from "@callgate/runtime";
import { nearestNames } from "@callgate/runtime/catalog";
import type { AgentRun } from "./agent-run.ts";
import type { AgentNews } from "./agent-event.ts";
import type { CallReport } from "./agent-result.ts";
import { refused } from "./tools/agent-tool.ts";
import type { AgentTool, CallAnswer, CallAt } from "./tools/agent-tool.ts";
import { readArguments } from "./tools/read-arguments.ts";
import type { ModelCall } from "./model/model-turn.ts";

/** A call and what came of it. */
export interface CarriedOut {
  readonly call: Pick<ModelCall, "callId" | "name">;
  readonly tool: string;
  readonly answer: CallAnswer;
  readonly durationMs: number;
}

/** What a call that was cancelled may still take to say what became of it. */
const graceMs = 250;

/**
 * Carries out the calls of one turn, several at once, and answers each exactly once, in their order. Never rejects: what a
 * call can end in, a cancel included, is its answer.
 */
export async function carryOut(run: AgentRun, tools: readonly AgentTool[], calls: readonly ModelCall[]): Promise<readonly CarriedOut[]> {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const slots = createSlots(run.limits.concurrentCalls);
  const left = run.meter.callsLeft();
  return await Promise.all(calls.map(async (call, index): Promise<CarriedOut> => {
    const tool = byName.get(call.name);
    const startedMs = run.clock.monotonic();
    const done = (answer: CallAnswer): CarriedOut => ({ call, tool: tool?.tool ?? call.name, answer, durationMs: run.clock.monotonic() - startedMs });
    if (tool === undefined) return done(unknownTool(call.name, [...byName.keys()]));
    if (index >= left) return done(refused("not_executed", `Not executed: the budget of ${run.limits.toolCalls} calls is used up.`));
    const release = await slots.take(run.signal);
    if (release === undefined) return done(cancelledBefore());
    try {
      return done(await one(run, tool, call));
    } finally {
      release();
    }
  }));
}

function unknownTool(name: string, known: readonly string[]): CallAnswer {
  const near = nearestNames(name, known, 3);
  return refused("invalid", `TOOL_NOT_FOUND: there is no tool "${name}". Nothing was done.${near.length === 0 ? "" : ` Nearest: ${near.join(", ")}`}`);
}

function cancelledBefore(): CallAnswer {
  return refused("cancelled", "CANCELLED: the task was cancelled before this call began. Nothing was changed.");
}

async function one(run: AgentRun, tool: AgentTool, call: ModelCall): Promise<CallAnswer> {
  const read = readArguments(call.input);
  if (read.kind === "unreadable") return refused("invalid", `INVALID_INPUT: ${tool.tool} was not called: ${read.why}. Send one JSON object that matches its schema.`);
  const key = JSON.stringify([run.setup.name, tool.tool, read.sent]);
  const before = run.refusals.get(key);
  if (before !== undefined) return refused("not_executed", before);
  const answer = await inTime(run, (at) => tool.perform(read.value, at), call.callId);
  if (answer.status === "not_executed") run.refusals.set(key, answer.text);
  return answer;
}

/** Once the run is cancelled its calls have a moment to say what became of them; then they are cancelled, and their effect is not known. */
export async function inTime(run: AgentRun, work: (at: CallAt) => Promise<CallAnswer>, callId: string): Promise<CallAnswer> {
  let isOver = false;
  const emit = (news: AgentNews): void => {
    if (!isOver) run.emit(news);
  };
  const working = work({ callId, signal: run.signal, emit });
  const ended = await race(() => working, { clock: run.clock, signal: run.signal });
  const settled = ended.kind === "cancelled" ? await race(() => working, { clock: run.clock, timeoutMs: graceMs }) : ended;
  isOver = true;
  switch (settled.kind) {
    case "value":
      return settled.value;
    case "threw":
      return run.signal.aborted ? cancelledUnderWay() : { status: "failed", text: `INTERNAL: ${settled.error instanceof Error ? settled.error.message : String(settled.error)}`, effectStatus: "unknown", runIds: [] };
    case "timed_out":
    case "cancelled":
      return cancelledUnderWay();
  }
}

function cancelledUnderWay(): CallAnswer {
  return { status: "cancelled", text: "CANCELLED: the task was cancelled while this call was under way. Whether anything was changed is unknown.", effectStatus: "unknown", runIds: [] };
}

export function reportOf({ call, tool, answer, durationMs }: CarriedOut): CallReport {
  const { status, effectStatus, runIds, text } = answer;
  return { callId: call.callId, tool, status, effectStatus, runIds, text, durationMs };
}

/** The answer as it goes into the history. A picture goes as one. */
export function resultPart({ call, answer }: CarriedOut): LanguageModelV4ToolResultPart {
  const { text, status, files = [] } = answer;
  const base = { type: "tool-result", toolCallId: call.callId, toolName: call.name } as const;
  if (files.length > 0) return { ...base, output: { type: "content", value: [{ type: "text", text }, ...files.map(({ mediaType, base64 }) => ({ type: "file" as const, mediaType, data: { type: "data" as const, data: base64 } }))] } };
  return { ...base, output: status === "ok" ? { type: "text", value: text } : { type: "error-text", value: text } };
}
