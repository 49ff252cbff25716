import type { Gate, JsonSchema, Principal } from "@callgate/contract";
import { globMatches, qualifiedGlob } from "@callgate/runtime/broker";
import { callText } from "@callgate/runtime/surface";
import { CallgateError } from "@callgate/contract";
import { functionNames } from "../tools/function-name.ts";

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

export interface AiSdkToolsOptions {
  /** Default: the gate's. */
  readonly principal?: Principal;
  /** Patterns over qualified names. Default: all that the principal may call. */
  readonly tools?: readonly string[];
  /** Into whose context the answers go. */
  readonly conversation?: string;
  /** What the model may see of one result. Default: the gate's. */
  readonly budgetTokens?: number;
}

/**
 * The tools of a gate for the AI SDK's own loop, by function name (`crm__get_customer`). Each call goes through the gate: decided,
 * asked about, journalled and bounded like any. What an agent of Callgate adds (budgets, repairs, suspension) is the loop's, and is
 * not in them.
 *
 * Errors: `CallgateError` USAGE for a pattern that is none.
 */
export function aiSdkTools(gate: Gate, { principal = gate.principal, tools, conversation, budgetTokens }: AiSdkToolsOptions = {}): Readonly<Record<string, AiSdkTool>> {
  const globs = tools?.map((pattern) => {
    const glob = qualifiedGlob(pattern);
    if (typeof glob === "string") throw new CallgateError("USAGE", `aiSdkTools: the pattern "${pattern}" ${glob}`);
    return glob;
  });
  const views = gate.tools({ principal }).filter(({ name }) => globs === undefined || globs.some((glob) => globMatches(glob, name)));
  const names = functionNames(views.map(({ name }) => name));
  return Object.fromEntries(views.map(({ name, spec }): [string, AiSdkTool] => [names.get(name) ?? name, {
    description: spec.description,
    inputSchema: { [schemaMark]: true, _type: undefined, jsonSchema: typeof spec.input === "boolean" ? { type: "object" } : { type: "object", ...spec.input }, validate: undefined },
    async execute(input, { abortSignal } = {}) {
      return callText(await gate.call(name, input, { principal, ...(abortSignal === undefined ? {} : { signal: abortSignal }), ...(conversation === undefined ? {} : { conversation }), ...(budgetTokens === undefined ? {} : { budgetTokens }) }));
    },
  }]));
}
