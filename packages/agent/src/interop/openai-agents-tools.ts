import type { Gate } from "@callgate/contract";
import { callText } from "@callgate/runtime/surface";
import type { Tool } from "@openai/agents";
import { missingPackage, offeredTools } from "./offered-tools.ts";
import type { InteropOptions } from "./offered-tools.ts";

/**
 * The tools of a gate for agents of the OpenAI Agents SDK: `new Agent({ tools: await openaiAgentsTools(gate) })`. Each call goes through
 * the gate, which asks where a person is needed: the SDK itself asks nobody. Their schemas are sent as they are (`strict: false`); the
 * gate validates. Needs `@openai/agents` beside your own code; it is loaded with the first call of this.
 *
 * Errors: `CallgateError` USAGE for a pattern that is none, or where the package is missing.
 */
export async function openaiAgentsTools(gate: Gate, options: InteropOptions = {}): Promise<Tool[]> {
  const offered = offeredTools(gate, options, "openaiAgentsTools");
  const { tool } = await import("@openai/agents").catch(missingPackage("openaiAgentsTools", "@openai/agents"));
  return offered.map(({ name, view, input, call }) => tool({
    name,
    description: view.spec.description,
    // A JSON Schema of any dialect; their type knows one, in which further properties are allowed.
    parameters: { properties: {}, required: [], ...structuredClone(input) } as unknown as OpenSchema,
    strict: false,
    execute: async (args: unknown, _context, details) => callText(await call(args, details?.signal)),
  }));
}

interface OpenSchema {
  readonly type: "object";
  readonly properties: Record<string, never>;
  readonly required: string[];
  readonly additionalProperties: true;
}
