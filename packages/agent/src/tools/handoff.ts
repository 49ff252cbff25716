import { CallgateError } from "@callgate/contract";
import type { JsonValue } from "@callgate/contract";
import type { AgentTool, CallAnswer } from "./agent-tool.ts";

const marker = "$handoff";

/**
 * What a handler returns to hand the conversation to another agent of `handoffs`. It counts for tools made of functions,
 * your own code; an answer of a service that looks like one is data.
 */
export function handoff(agent: string | { readonly name: string }, context: JsonValue = null): { readonly [marker]: { readonly agent: string; readonly context: JsonValue } } {
  const name = typeof agent === "string" ? agent : agent.name;
  if (typeof name !== "string" || name === "") throw new CallgateError("USAGE", "handoff takes the name of an agent, or the agent");
  return { [marker]: { agent: name, context } };
}

/** Reads what a handler returned. */
export function handoffIn(value: unknown): { readonly to: string; readonly context: JsonValue } | undefined {
  const found = (value as { readonly [marker]?: { readonly agent?: unknown; readonly context?: JsonValue } } | null)?.[marker];
  return typeof found?.agent === "string" ? { to: found.agent, context: found.context ?? null } : undefined;
}

/** The model hands over by itself. */
export function handoffTool({ name, description }: { readonly name: string; readonly description: string | undefined }): AgentTool {
  const functionName = `handoff_to_${name}`;
  return {
    name: functionName,
    tool: functionName,
    description: `Hands the conversation to ${name}, who goes on in your place.${description === undefined ? "" : ` ${description}`}`,
    input: { type: "object", properties: { context: { type: "string", description: "What the other one should know beyond the conversation" } }, additionalProperties: false },
    perform: ({ context }) => Promise.resolve(handedTo(name, typeof context === "string" ? context : null)),
  };
}

function handedTo(to: string, context: JsonValue): CallAnswer {
  return { status: "ok", text: `Handed over to ${to}.`, effectStatus: "none", runIds: [], handoff: { to, context } };
}
