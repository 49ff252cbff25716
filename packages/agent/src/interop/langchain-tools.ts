import type { Gate } from "@callgate/contract";
import { callText } from "@callgate/runtime/surface";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { missingPackage, offeredTools } from "./offered-tools.ts";
import type { InteropOptions } from "./offered-tools.ts";

/**
 * The tools of a gate for LangChain and LangGraph: `createReactAgent({ llm, tools: await langchainTools(gate) })`. Each call goes through
 * the gate; arguments that do not match their schema are refused by LangChain before it, in its words. Needs `@langchain/core` beside your own code; it is loaded with the first call of this.
 *
 * Errors: `CallgateError` USAGE for a pattern that is none, or where the package is missing.
 */
export async function langchainTools(gate: Gate, options: InteropOptions = {}): Promise<DynamicStructuredTool[]> {
  const { DynamicStructuredTool: Structured } = await import("@langchain/core/tools").catch(missingPackage("langchainTools", "@langchain/core"));
  return offeredTools(gate, options, "langchainTools").map(({ name, view, input, call }) => new Structured({
    name,
    description: view.spec.description,
    // Theirs writes marks into it, and the gate's own cannot be changed.
    schema: structuredClone(input),
    func: async (args: unknown, _manager, config) => callText(await call(args, config?.signal)),
  }));
}
