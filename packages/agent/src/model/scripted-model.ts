import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content, LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { CallgateError } from "@callgate/contract";
import type { JsonValue } from "@callgate/contract";

/** What a scripted model says in one turn. A text alone is an answer. */
export type ScriptedTurn =
  | string
  | {
      readonly text?: string;
      readonly reasoning?: string;
      /** `tool`: the qualified name of a tool of the gate, or the name of a function. `input` as text is sent as it is. */
      readonly calls?: readonly { readonly tool: string; readonly input?: JsonValue; readonly callId?: string }[];
      readonly finishReason?: LanguageModelV4FinishReason["unified"];
      /** Default: it does not say, so that tokens are estimated. */
      readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
      /** Thrown in place of a turn. */
      readonly error?: Error;
      readonly delayMs?: number;
    };

export interface ScriptedModel extends LanguageModelV4 {
  /** What it was sent, turn by turn. */
  readonly asked: readonly LanguageModelV4CallOptions[];
}

/**
 * A model that says what it is told to, turn by turn: for tests and demonstrations. It understands nothing, says so by its
 * name (`scripted/script`), and counts no tokens. A turn may be a function of what the model was sent.
 *
 * Where the script is over it throws `CallgateError` USAGE, which ends the task as failed.
 */
export function scriptedModel(script: readonly (ScriptedTurn | ((sent: LanguageModelV4CallOptions) => ScriptedTurn))[]): ScriptedModel {
  const asked: LanguageModelV4CallOptions[] = [];

  async function next(options: LanguageModelV4CallOptions): Promise<Exclude<ScriptedTurn, string>> {
    const turn = script[asked.length];
    const at = asked.push(options);
    if (turn === undefined) throw new CallgateError("USAGE", `The script of the model is over: it has ${script.length} turns, and was asked for turn ${at}`);
    const given = typeof turn === "function" ? turn(options) : turn;
    const said = typeof given === "string" ? { text: given } : given;
    if (said.delayMs !== undefined) await delay(said.delayMs, options.abortSignal);
    if (said.error !== undefined) throw said.error;
    return said;
  }

  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "script",
    supportedUrls: {},
    asked,
    async doGenerate(options) {
      const turn = await next(options);
      return { content: contentOf(turn, { turn: asked.length, options }), finishReason: finishOf(turn), usage: usageOf(turn), warnings: [] };
    },
    async doStream(options) {
      const turn = await next(options);
      const content = contentOf(turn, { turn: asked.length, options });
      const parts: LanguageModelV4StreamPart[] = [{ type: "stream-start", warnings: [] }, ...content.flatMap(streamed), { type: "finish", finishReason: finishOf(turn), usage: usageOf(turn) }];
      return { stream: ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart> };
    },
  };
}

function contentOf({ text, reasoning, calls = [] }: Exclude<ScriptedTurn, string>, { turn, options }: { readonly turn: number; readonly options: LanguageModelV4CallOptions }): LanguageModelV4Content[] {
  return [
    ...(reasoning === undefined ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...calls.map(({ tool, input = {}, callId }, index) => ({ type: "tool-call" as const, toolCallId: callId ?? `call_${turn}_${index + 1}`, toolName: functionNamed(tool, options), input: typeof input === "string" ? input : JSON.stringify(input) })),
  ];
}

function functionNamed(tool: string, { tools = [] }: LanguageModelV4CallOptions): string {
  return tools.some(({ name }) => name === tool) ? tool : tool.replaceAll(".", "__");
}

/** Word by word, as a model would. */
function streamed(content: LanguageModelV4Content, index: number): LanguageModelV4StreamPart[] {
  const id = String(index);
  if (content.type === "text" || content.type === "reasoning") {
    const { type, text } = content;
    return [{ type: `${type}-start`, id }, ...(text.match(/\s*\S+\s*|\s+/g) ?? []).map((delta) => ({ type: `${type}-delta` as const, id, delta })), { type: `${type}-end`, id }];
  }
  return content.type === "tool-call" ? [content] : [];
}

function finishOf({ finishReason, calls = [] }: Exclude<ScriptedTurn, string>): LanguageModelV4FinishReason {
  return { unified: finishReason ?? (calls.length > 0 ? "tool-calls" : "stop"), raw: undefined };
}

function usageOf({ usage }: Exclude<ScriptedTurn, string>): LanguageModelV4Usage {
  return { inputTokens: { total: usage?.inputTokens, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }, outputTokens: { total: usage?.outputTokens, text: undefined, reasoning: undefined } };
}

async function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const over = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", over);
      if (signal?.aborted === true) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(over, ms);
    if (signal?.aborted === true) over();
    else signal?.addEventListener("abort", over, { once: true });
  });
}
