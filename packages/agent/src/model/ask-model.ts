import type { LanguageModelV3CallOptions, LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { CallError, Clock } from "@callgate/contract";
import { linkedAbort } from "@callgate/runtime";
import type { AgentLimits, AgentModel } from "../agent-options.ts";
import { pause } from "./pause.ts";
import type { ModelTurn } from "./model-turn.ts";
import { BrokenTurn, createTurnReader } from "./read-turn.ts";
import { estimateTokens, messageTokens } from "./estimate-tokens.ts";
import { toV3Prompt } from "./to-v3-prompt.ts";

export interface ModelRequest {
  readonly model: AgentModel;
  /** What never changes comes first, so that the provider's cache holds. */
  readonly system: string;
  readonly messages: readonly LanguageModelV4Message[];
  readonly tools: readonly LanguageModelV4FunctionTool[];
  /** `none`: it is to answer in text. A name: it is to call that. */
  readonly toolChoice: "auto" | "none" | { readonly tool: string };
  readonly limits: Pick<AgentLimits, "modelRetries" | "retryMs" | "modelMs" | "stallMs">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onDelta: (channel: "text" | "reasoning", delta: string) => void;
  readonly onRetry: (attempt: number, reason: string) => void;
}

export type ModelAnswer = { readonly kind: "turn"; readonly turn: ModelTurn } | { readonly kind: "aborted" } | { readonly kind: "failed"; readonly error: Pick<CallError, "code" | "message" | "retryable"> };

/** What is sent, about. */
export function promptTokens({ system, messages, tools }: Pick<ModelRequest, "system" | "messages" | "tools">): number {
  return estimateTokens(system) + messageTokens(messages) + estimateTokens(JSON.stringify(tools));
}

/**
 * One turn of the model, asked for again where the provider fails for a while or its answer breaks off. An answer counts
 * only whole: of half of one, no call is made. Never rejects, and never waits longer than its limits say.
 */
export async function askModel(request: ModelRequest): Promise<ModelAnswer> {
  const { limits, clock, signal } = request;
  for (let attempt = 1; ; attempt++) {
    try {
      return { kind: "turn", turn: await attemptTurn(request) };
    } catch (fault) {
      if (signal.aborted) return { kind: "aborted" };
      const retryable = isRetryable(fault);
      if (!retryable || attempt > limits.modelRetries) return { kind: "failed", error: { code: "MODEL_UNAVAILABLE", message: `The model gave no whole answer${attempt > 1 ? ` in ${attempt} tries` : ""}: ${words(fault)}`, retryable } };
      request.onRetry(attempt, words(fault));
      await pause(pauseMs(fault, limits.retryMs * 2 ** (attempt - 1)), { clock, signal });
      if (signal.aborted) return { kind: "aborted" };
    }
  }
}

async function attemptTurn(request: ModelRequest): Promise<ModelTurn> {
  const { limits, clock, signal } = request;
  const reader = createTurnReader(request.onDelta);
  const attempt = linkedAbort(signal);
  const late = clock.schedule(limits.modelMs, () => attempt.abort(new BrokenTurn(`it was not whole after ${limits.modelMs} ms`)));
  const silence = createSilence(clock, limits.stallMs, () => attempt.abort(new BrokenTurn(`nothing came for ${limits.stallMs} ms`)));
  let parts: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  try {
    // A provider that does not hear of the abort is not waited for.
    const stream = await untilAbort(openStream(request, attempt.signal), attempt.signal);
    parts = stream.getReader();
    for (;;) {
      const { done, value } = await untilAbort(parts.read(), attempt.signal);
      silence.broken();
      if (done) break;
      reader.take(value);
      // What comes after the end is not waited for.
      if (value.type === "finish") break;
    }
    return reader.end(promptTokens(request));
  } finally {
    late.cancel();
    silence.end();
    attempt.abort(new DOMException("The turn is over", "AbortError"));
    attempt.unlink();
    parts?.cancel().catch(() => undefined);
  }
}

async function openStream({ model, system, messages, tools, toolChoice }: ModelRequest, abortSignal: AbortSignal): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const prompt: LanguageModelV4Message[] = [{ role: "system", content: system, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }, ...messages];
  const options = {
    abortSignal,
    ...(tools.length === 0 ? {} : { tools: [...tools], toolChoice: typeof toolChoice === "string" ? { type: toolChoice } : { type: "tool" as const, toolName: toolChoice.tool } }),
  };
  // The parts of a stream that a turn is made of are the same in both specifications.
  if (model.specificationVersion === "v3") return (await model.doStream({ ...options, prompt: toV3Prompt(prompt) } as LanguageModelV3CallOptions)).stream as unknown as ReadableStream<LanguageModelV4StreamPart>;
  return (await model.doStream({ ...options, prompt } as LanguageModelV4CallOptions)).stream;
}

/** Rejects with the reason of `signal` as soon as that aborts; what the work comes to then is nobody's. */
async function untilAbort<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  return await new Promise<Value>((resolve, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new BrokenTurn(String(signal.reason)));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).then(() => signal.removeEventListener("abort", stop), () => undefined);
  });
}

function createSilence(clock: Clock, stallMs: number, stalled: () => void): { broken(): void; end(): void } {
  let timer = clock.schedule(stallMs, stalled);
  return {
    broken() {
      timer.cancel();
      timer = clock.schedule(stallMs, stalled);
    },
    end: () => timer.cancel(),
  };
}

/** Wrong by what was sent, or by the set-up: the same again would be as wrong. */
const lasting = new Set(["AI_LoadAPIKeyError", "AI_LoadSettingError", "AI_InvalidPromptError", "AI_InvalidArgumentError", "AI_NoSuchModelError", "AI_UnsupportedFunctionalityError", "CallgateError"]);

function isRetryable(fault: unknown): boolean {
  const { isRetryable: said, name } = (fault ?? {}) as { readonly isRetryable?: unknown; readonly name?: unknown };
  return typeof said === "boolean" ? said : !lasting.has(String(name));
}

/** A provider that says when to come back is asked then, within a minute. */
function pauseMs(fault: unknown, otherwise: number): number {
  const headers = (fault as { readonly responseHeaders?: Readonly<Record<string, string>> } | null)?.responseHeaders ?? {};
  const [ms, seconds] = [Number(headers["retry-after-ms"]), Number(headers["retry-after"]) * 1_000];
  const asked = [ms, seconds].find((one) => Number.isFinite(one) && one >= 0);
  return Math.min(asked ?? otherwise, 60_000);
}

/** Bounded, for it goes into answers and events. */
function words(fault: unknown): string {
  const { message, statusCode, cause } = (fault ?? {}) as { readonly message?: unknown; readonly statusCode?: unknown; readonly cause?: { readonly message?: unknown } };
  const because = typeof cause?.message === "string" && cause.message !== message ? ` (${cause.message})` : "";
  return `${typeof statusCode === "number" ? `HTTP ${statusCode}: ` : ""}${typeof message === "string" && message !== "" ? message : String(fault)}${because}`.slice(0, 400);
}
