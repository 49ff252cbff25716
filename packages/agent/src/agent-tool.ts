import { ToolError } from "@callgate/contract";
import type { Effect, Lane, Tool, ToolContext } from "@callgate/contract";
import { defineTool } from "@callgate/runtime/source";
import { z } from "zod";
import { agentSetupOf } from "./agent-setup.ts";
import type { Agent } from "./agent.ts";
import type { AgentResult } from "./agent-result.ts";
import type { AgentSetup } from "./agent-setup.ts";
import { runTask } from "./create-agent.ts";
import { callerOf } from "./live-agents.ts";

export interface AgentToolOptions {
  /** Within its namespace. */
  readonly name: string;
  readonly description: string;
  /** `read`: the agent can reach nothing that writes. Default `write`. */
  readonly effect?: Extract<Effect, "read" | "write">;
  /** Default 10 minutes. */
  readonly timeoutMs?: number;
}

/**
 * An agent as a tool of a gate: called directly, or from programs, many at once. It acts as its caller: what is decided of its
 * calls is decided as of its caller's, and beside that it may use only tools that both may. What it uses up counts for an
 * agent that called it.
 *
 * @param agent a function where the agent needs the gate that the tool is part of
 */
export function agentTool(agent: Agent | (() => Agent), { name, description, effect = "write", timeoutMs = 10 * 60_000 }: AgentToolOptions): Tool {
  return defineTool({
    name,
    description,
    effect,
    // What a model says is what it has read.
    labels: ["untrusted"],
    timeoutMs,
    input: z.strictObject({ task: z.string().min(1).describe("All that it has to know: it sees nothing of this conversation") }),
    errors: [{ code: "AGENT_FAILED", description: "The agent did not get to an answer; the message says what is known" }],
    async handler({ task }, context) {
      const setup = agentSetupOf(typeof agent === "function" ? agent() : agent);
      return await answerOf(await performTask(setup, { task, effect, context }), context);
    },
  });
}

/** What a calling run may, and whose context it is part of: from the agent that made it, or, where that is gone, from its record. */
async function callingRun({ gate }: AgentSetup, { runId, principal }: ToolContext): Promise<{ readonly lane: Lane; readonly allows: (tool: string) => boolean; readonly conversation?: string | undefined }> {
  const caller = callerOf(gate, runId);
  if (caller !== undefined) return caller;
  const run = (await gate.runs.show(runId, { principal }))?.run;
  const bounds = run?.capabilities?.tools;
  return { lane: run?.lane ?? "query", conversation: run?.conversation, allows: (tool) => bounds === undefined || Object.hasOwn(bounds, tool) };
}

async function performTask(setup: AgentSetup, { task, effect, context }: { readonly task: string; readonly effect: Effect; readonly context: ToolContext }): Promise<AgentResult> {
  const caller = await callingRun(setup, context);
  const parent = callerOf(setup.gate, context.runId)?.meter;
  // Whoever it hands over to acts for the same caller.
  const within = (acting: AgentSetup): AgentSetup => ({
    ...acting,
    // Nobody could go on with it while its call waits: a person is waited for.
    options: { ...acting.options, approvals: "wait", ...(acting.options.askUser === "suspend" ? { askUser: () => Promise.reject(new Error("the user cannot be asked from here")) } : {}) },
    principal: context.principal.agent === undefined ? { ...context.principal, agent: acting.name } : context.principal,
    lane: effect === "read" || caller.lane === "query" ? "query" : acting.lane,
    allows: (tool) => acting.allows(tool) && caller.allows(tool),
  });
  return await runTask(setup, task, { within, signal: context.signal, ...(parent === undefined ? {} : { parent }), ...(caller.conversation === undefined ? {} : { conversation: caller.conversation }), onEvent: (event) => { if (event.kind === "model-start") context.progress(`${setup.name}: turn ${event.turn}`); } });
}

async function answerOf(result: AgentResult, context: ToolContext): Promise<unknown> {
  const { answer, output, stop, effects, usage } = result;
  context.reportCost({ tokens: usage.inputTokens + usage.outputTokens, microUsd: usage.microUsd });
  context.signal.throwIfAborted();
  if (stop.kind === "answered" || stop.kind === "defaulted" || stop.kind === "taken_over") return await Promise.resolve({ answer, ...(output === undefined ? {} : { output }), effects });
  throw new ToolError({ code: "AGENT_FAILED", message: answer.slice(0, 2_000), notApplied: effects.done.length === 0 && effects.unknown.length === 0 });
}
