import type { Gate, JsonSchema } from "@callgate/contract";
import { callText } from "@callgate/runtime/surface";
import { offeredTools } from "./offered-tools.ts";
import type { InteropOptions } from "./offered-tools.ts";

/** A tool as the AI SDK's `generateText`, `streamText` and agents take it. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  /** What the model reads; a call that did not end well is a text that says so, so that the loop goes on. */
  execute(input: unknown, options?: { readonly abortSignal?: AbortSignal }): Promise<string>;
}

const schemaMark = Symbol.for("vercel.ai.schema");

/** What the AI SDK takes for a schema, without its package. */
interface AiSdkSchema {
  readonly [schemaMark]: true;
  readonly _type: unknown;
  readonly jsonSchema: JsonSchema;
  /** The gate validates: its error names the place and what is near, which the model can use. */
  readonly validate: undefined;
}

/**
 * The tools of a gate for the AI SDK's own loop, by function name (`crm__get_customer`). Each call goes through the gate: decided,
 * asked about, journalled and bounded like any. What an agent of Callgate adds (budgets, repairs, suspension) is the loop's, and is
 * not in them.
 *
 * Errors: `CallgateError` USAGE for a pattern that is none.
 */
export function aiSdkTools(gate: Gate, options: InteropOptions = {}): Readonly<Record<string, AiSdkTool>> {
  return Object.fromEntries(offeredTools(gate, options, "aiSdkTools").map(({ name, view, input: schema, call }): [string, AiSdkTool] => [name, {
    description: view.spec.description,
    inputSchema: { [schemaMark]: true, _type: undefined, jsonSchema: schema, validate: undefined },
    execute: async (input, { abortSignal } = {}) => callText(await call(input, abortSignal)),
  }]));
}
