import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { TurnUsage } from "../agent-result.ts";

/** The parts of an assistant's message. */
export type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** A call as the model wrote it. `input` is its text, which may be no JSON. */
export interface ModelCall {
  readonly callId: string;
  readonly name: string;
  readonly input: string;
}

/** A whole answer of a model. One that broke off is none. */
export interface ModelTurn {
  readonly text: string;
  /** As it goes into the history. */
  readonly content: AssistantContent;
  readonly calls: readonly ModelCall[];
  readonly finishReason: string;
  readonly usage: TurnUsage;
}
