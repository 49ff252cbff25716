import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { TurnUsage } from "../agent-result.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { readArguments } from "../tools/read-arguments.ts";
import type { AssistantContent, ModelCall, ModelTurn } from "./model-turn.ts";

/** The stream ended, and the model had not. */
export class BrokenTurn extends Error {
  override readonly name = "BrokenTurn";
}

interface Block {
  readonly type: "text" | "reasoning";
  text: string;
  metadata: SharedV4ProviderMetadata | undefined;
}

/** Puts the parts of a stream together as they come. */
export interface TurnReader {
  /** Throws what the provider says went wrong. */
  take(part: LanguageModelV4StreamPart): void;
  /** Errors: `BrokenTurn` where the end of the answer never came. */
  end(promptTokens: number): ModelTurn;
}

/** @param onDelta hears text and reasoning as they come */
export function createTurnReader(onDelta: (channel: "text" | "reasoning", delta: string) => void): TurnReader {
  const order: (Block | ModelCallPart)[] = [];
  const block = createBlocks(order);
  const calls = new Map<string, ModelCallPart>();
  let finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined;

  function take(part: TurnPart): void {
    switch (part.type) {
      case "text-start":
      case "text-end":
        return void block("text", part);
      case "reasoning-start":
      case "reasoning-end":
        return void block("reasoning", part);
      case "text-delta":
      case "reasoning-delta": {
        const channel = part.type === "text-delta" ? "text" : "reasoning";
        block(channel, part).text += part.delta;
        if (part.delta !== "") onDelta(channel, part.delta);
        return;
      }
      case "tool-call": {
        // What the provider executes is none of ours. An id has one answer, so it is one call.
        if (part.providerExecuted === true || calls.has(part.toolCallId)) return;
        const call: ModelCallPart = { type: "call", callId: part.toolCallId, name: part.toolName, input: part.input, metadata: part.providerMetadata };
        calls.set(part.toolCallId, call);
        order.push(call);
        return;
      }
      case "finish":
        finish = part;
        return;
      case "error":
        throw part.error instanceof Error ? part.error : new BrokenTurn(errorWords(part.error));
    }
  }

  return {
    take(part) {
      if (isOfTurn(part)) take(part);
    },
    end(promptTokens) {
      if (finish === undefined || finish.finishReason.unified === "interrupted" || finish.finishReason.unified === "error") throw new BrokenTurn("the answer broke off before its end");
      const text = order.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
      return { text, content: contentOf(order), calls: [...calls.values()].map(({ callId, name, input }) => ({ callId, name, input })), finishReason: finish.finishReason.unified, usage: usageOf(finish, { promptTokens, order }) };
    },
  };
}

/** What a turn is made of. A call comes whole after its pieces; sources, files and pings are nothing of it. */
const turnParts = ["text-start", "text-delta", "text-end", "reasoning-start", "reasoning-delta", "reasoning-end", "tool-call", "finish", "error"] as const;
type TurnPart = Extract<LanguageModelV4StreamPart, { type: (typeof turnParts)[number] }>;

function isOfTurn(part: LanguageModelV4StreamPart): part is TurnPart {
  return (turnParts as readonly string[]).includes(part.type);
}

/** A block that was never begun, or is begun twice, is one block all the same. */
function createBlocks(order: (Block | ModelCallPart)[]): (type: Block["type"], part: { readonly id: string; readonly providerMetadata?: SharedV4ProviderMetadata }) => Block {
  const open = new Map<string, Block>();
  return (type, { id, providerMetadata }) => {
    const key = `${type} ${id}`;
    let known = open.get(key);
    if (known === undefined) {
      known = { type, text: "", metadata: undefined };
      open.set(key, known);
      order.push(known);
    }
    known.metadata = providerMetadata ?? known.metadata;
    return known;
  };
}

interface ModelCallPart extends ModelCall {
  readonly type: "call";
  readonly metadata: SharedV4ProviderMetadata | undefined;
}

/** Metadata goes back to the provider: signatures of reasoning, ids of items. Empty texts do not: providers refuse them. */
function contentOf(order: readonly (Block | ModelCallPart)[]): AssistantContent {
  return order.flatMap((part): AssistantContent => {
    const options = part.metadata === undefined ? {} : { providerOptions: part.metadata };
    if (part.type === "call") return [{ type: "tool-call", toolCallId: part.callId, toolName: part.name, input: sentBack(part.input), ...options }];
    return part.type === "text" && part.text === "" ? [] : [{ type: part.type, text: part.text, ...options }];
  });
}

/** What the model reads of its own call: an object, whatever it wrote. */
function sentBack(input: string): unknown {
  const read = readArguments(input);
  return read.kind === "ok" ? read.sent : { $unreadable: input };
}

function usageOf({ usage }: Extract<LanguageModelV4StreamPart, { type: "finish" }>, { promptTokens, order }: { readonly promptTokens: number; readonly order: readonly (Block | ModelCallPart)[] }): TurnUsage {
  const [input, output] = [usage?.inputTokens?.total, usage?.outputTokens?.total];
  return {
    inputTokens: input ?? promptTokens,
    cachedTokens: usage?.inputTokens?.cacheRead ?? 0,
    outputTokens: output ?? estimateTokens(order.map((part) => (part.type === "call" ? part.input : part.text)).join("")),
    isEstimated: input === undefined || output === undefined,
  };
}

function errorWords(error: unknown): string {
  if (typeof error === "string") return error;
  const message = (error as { message?: unknown } | null)?.message;
  return typeof message === "string" ? message : "the provider reported an error without words";
}
