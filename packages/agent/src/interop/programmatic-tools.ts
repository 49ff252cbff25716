import type { CallResult, Gate, JsonObject, JsonSchema } from "@callgate/contract";
import { callText, toModelText } from "@callgate/runtime/surface";
import { z } from "zod";
import { offeredTools } from "./offered-tools.ts";
import type { InteropOptions, OfferedTool } from "./offered-tools.ts";

/**
 * Programs that a provider runs in its own sandbox, whose calls of tools come here: OpenAI's and Anthropic's programmatic tool
 * calling. The provider's program is not checked and not journalled; each of its calls is, as any.
 */
export interface ProgrammaticOptions extends InteropOptions {
  /** `program`: only programs may call the tools. `both`: the model itself may, too. Default `program`. */
  readonly callers?: "program" | "both";
  /** Ends the calls under way. */
  readonly signal?: AbortSignal;
}

/** What a program gets whole; beyond it gets the text that says so. */
const programTokens = 100_000;

/** What to send next, and where the program waits. */
export interface AnthropicAnswer {
  /** Of the assistant and then of the user, to be appended: the results alone, as Anthropic wants them. */
  readonly messages: readonly [{ readonly role: "assistant"; readonly content: readonly unknown[] }, { readonly role: "user"; readonly content: readonly JsonObject[] }];
  /** The `container` of the next request. */
  readonly container?: string;
}

export interface AnthropicProgrammaticTools {
  /** The `tools` of a request. */
  readonly tools: readonly JsonObject[];
  /** Makes the calls of a response of the Messages API, all at once; undefined where it has none. */
  readonly answer: (response: unknown) => Promise<AnthropicAnswer | undefined>;
}

const anthropicExecution = "code_execution_20260120";
const anthropicResponse = z.looseObject({ content: z.array(z.looseObject({ type: z.string() })), container: z.looseObject({ id: z.string() }).nullish() });
const toolUse = z.looseObject({ type: z.literal("tool_use"), id: z.string(), name: z.string(), input: z.unknown() });

/**
 * The tools of a gate for Anthropic's programmatic tool calling (Messages API, `code_execution_20260120`).
 *
 * Errors: `CallgateError` USAGE for a pattern that is none. `answer` throws a `ZodError` for what is no response.
 */
export function anthropicProgrammaticTools(gate: Gate, { callers = "program", signal, ...options }: ProgrammaticOptions = {}): AnthropicProgrammaticTools {
  const offered = offeredTools(gate, { budgetTokens: programTokens, ...options }, "anthropicProgrammaticTools");
  const allowed = callers === "program" ? [anthropicExecution] : [anthropicExecution, "direct"];
  return {
    tools: [{ type: anthropicExecution, name: "code_execution" }, ...offered.map(({ name, view, input }) => ({ name, description: describe(view.spec), input_schema: input, allowed_callers: allowed }))],
    async answer(response) {
      const { content, container } = anthropicResponse.parse(response);
      const uses = content.flatMap((block) => (block.type === "tool_use" ? [toolUse.parse(block)] : []));
      if (uses.length === 0) return undefined;
      const results = await Promise.all(uses.map(async ({ id, name, input }): Promise<JsonObject> => {
        const { text, isError } = await carryOut(offered, { name, input, signal });
        return { type: "tool_result", tool_use_id: id, content: text, ...(isError ? { is_error: true } : {}) };
      }));
      return { messages: [{ role: "assistant", content }, { role: "user", content: results }], ...(container === undefined || container === null ? {} : { container: container.id }) };
    },
  };
}

export interface OpenaiProgrammaticTools {
  /** The `tools` of a request. */
  readonly tools: readonly JsonObject[];
  /**
   * Makes the calls of a response of the Responses API, all at once; undefined where it has none. What it gives is appended to the
   * `input` of the next request: what the response said (programs with their fingerprints), and the outputs.
   */
  readonly answer: (response: unknown) => Promise<readonly unknown[] | undefined>;
}

const openaiResponse = z.looseObject({ output: z.array(z.looseObject({ type: z.string() })) });
const functionCall = z.looseObject({ type: z.literal("function_call"), call_id: z.string(), name: z.string(), arguments: z.string(), caller: z.unknown().optional() });

/**
 * The tools of a gate for OpenAI's programmatic tool calling (Responses API, `programmatic_tool_calling`).
 *
 * Errors: `CallgateError` USAGE for a pattern that is none. `answer` throws a `ZodError` for what is no response.
 */
export function openaiProgrammaticTools(gate: Gate, { callers = "program", signal, ...options }: ProgrammaticOptions = {}): OpenaiProgrammaticTools {
  const offered = offeredTools(gate, { budgetTokens: programTokens, ...options }, "openaiProgrammaticTools");
  const allowed = callers === "program" ? ["programmatic"] : ["programmatic", "direct"];
  return {
    tools: [{ type: "programmatic_tool_calling" }, ...offered.map(({ name, view, input }) => ({ type: "function", name, description: describe(view.spec), parameters: input, strict: false, allowed_callers: allowed }))],
    async answer(response) {
      const { output } = openaiResponse.parse(response);
      const calls = output.flatMap((item) => (item.type === "function_call" ? [functionCall.parse(item)] : []));
      if (calls.length === 0) return undefined;
      const outputs = await Promise.all(calls.map(async ({ call_id, name, arguments: text, caller }) => {
        const { text: answered } = await carryOut(offered, { name, input: jsonOr(text), signal });
        return { type: "function_call_output", call_id, output: answered, ...(caller === undefined || caller === null ? {} : { caller }) };
      }));
      return [...output, ...outputs];
    },
  };
}

interface ProgramCall {
  readonly name: string;
  readonly input: unknown;
  readonly signal: AbortSignal | undefined;
}

async function carryOut(offered: readonly OfferedTool[], { name, input, signal }: ProgramCall): Promise<{ readonly text: string; readonly isError: boolean }> {
  const tool = offered.find((one) => one.name === name);
  if (tool === undefined) return { text: `TOOL_NOT_FOUND: there is no tool ${name}. Nothing was changed.`, isError: true };
  return programText(await tool.call(input, signal));
}

/** For a program: the value alone where it is whole. */
function programText(result: CallResult): { readonly text: string; readonly isError: boolean } {
  const { outcome, shaped } = result;
  if (outcome.kind !== "ok" || shaped?.kind === "outline") return { text: callText(result), isError: true };
  return { text: shaped === undefined ? "null" : toModelText(shaped.value), isError: false };
}

/** Text that is no JSON goes to the gate as it is, which says what is wrong with it. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Programs are written from the description alone: it says what comes back. */
function describe({ description, output }: { readonly description: string; readonly output?: JsonSchema }): string {
  return output === undefined ? description : `${description}\n\nReturns JSON of this schema: ${JSON.stringify(output)}`;
}
