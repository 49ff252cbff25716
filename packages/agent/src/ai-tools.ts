import { ToolError } from "@callgate/contract";
import type { Clock, JsonSchema, Label, Tool, ToolContext } from "@callgate/contract";
import { systemClock } from "@callgate/runtime";
import { createSchemaValidator } from "@callgate/runtime/catalog";
import { defineTool } from "@callgate/runtime/source";
import { z } from "zod";
import { defaultAgentLimits } from "./agent-options.ts";
import type { AgentModel, ModelPrice } from "./agent-options.ts";
import { askModel } from "./model/ask-model.ts";
import { promptText } from "./prompts.ts";
import type { PromptName } from "./prompts.ts";
import { jsonIn } from "./text-turn.ts";
import { turnCost } from "./run-meter.ts";

export interface AiToolsOptions {
  /** A function where it is opened with the first call. */
  readonly model: AgentModel | (() => Promise<AgentModel>);
  readonly price?: ModelPrice;
  /** Beside `untrusted`. `external` where the model is somebody else's: once private data and strangers' texts were read, its calls ask. */
  readonly labels?: readonly Label[];
  readonly prompts?: Partial<Readonly<Record<PromptName, string>>>;
  /** Default: the host's. */
  readonly clock?: Clock;
}

/** Characters of a text that a model can be given at once. */
const maxTextChars = 400_000;
const timeoutMs = 2 * 60_000;

/**
 * `summarize` and `extract`: a model as ordinary tools, for programs and agents. Journalled, budgeted and decided like any; what
 * comes back is labelled untrusted, for it says what a text says.
 */
export function aiTools(options: AiToolsOptions): readonly Tool[] {
  const text = z.string().min(1).max(maxTextChars);
  const common = { effect: "read", labels: ["untrusted", ...(options.labels ?? [])], timeoutMs, errors: [{ code: "MODEL_UNAVAILABLE", description: "The model gave no whole answer", retryable: true }] } as const;
  return [
    defineTool({
      ...common,
      name: "summarize",
      description: "Summarizes a text with a model.",
      input: z.strictObject({ text, words: z.int().min(10).max(2_000).default(150).describe("At most so many") }),
      output: z.string(),
      handler: async ({ text: given, words }, context) => await ask(options, { system: promptText("summarize", options.prompts).replace("{words}", String(words)), text: given }, context),
    }),
    defineTool({
      ...common,
      name: "extract",
      description: "Extracts what a JSON Schema asks for from a text, with a model. The value matches the schema.",
      input: z.strictObject({ text, schema: z.record(z.string(), z.unknown()).describe("JSON Schema of what comes back") }),
      errors: [...common.errors, { code: "NO_MATCH", description: "What the model found does not match the schema, twice" }],
      handler: async ({ text: given, schema }, context) => await extract(options, { text: given, schema }, context),
    }),
  ];
}

async function extract(options: AiToolsOptions, { text, schema }: { readonly text: string; readonly schema: JsonSchema }, context: ToolContext): Promise<unknown> {
  const validator = createSchemaValidator(schema);
  const system = promptText("extract", options.prompts).replace("{schema}", () => JSON.stringify(schema));
  let why = "";
  for (let attempt = 1; attempt <= 2; attempt++) {
    const said = jsonIn(await ask(options, { system: attempt === 1 ? system : `${system}\n\nYour last answer was not that: ${why}`, text }, context));
    const found = said === undefined ? undefined : validator.validate(said.json);
    if (found?.kind === "ok") return found.value;
    why = found === undefined ? "it was no JSON" : found.issues.map(({ path, message }) => `${path} ${message}`).join("; ");
  }
  throw new ToolError({ code: "NO_MATCH", message: `What the model found does not match the schema: ${why}`, notApplied: true });
}

async function ask({ model, price, clock = systemClock() }: AiToolsOptions, { system, text }: { readonly system: string; readonly text: string }, context: ToolContext): Promise<string> {
  const { signal } = context;
  const { modelRetries, retryMs, modelMs, stallMs } = defaultAgentLimits;
  const answer = await askModel({ model: typeof model === "function" ? await model() : model, system, messages: [{ role: "user", content: [{ type: "text", text }] }], tools: [], toolChoice: "none", limits: { modelRetries, retryMs, modelMs, stallMs }, clock, signal, onDelta: () => undefined, onRetry: () => undefined });
  if (answer.kind === "aborted") throw signal.reason instanceof Error ? signal.reason : new Error("cancelled");
  if (answer.kind === "failed") throw new ToolError({ ...answer.error, notApplied: true });
  const { usage } = answer.turn;
  context.reportCost({ tokens: usage.inputTokens + usage.outputTokens, microUsd: price === undefined ? 0 : turnCost(usage, price) });
  return answer.turn.text;
}
