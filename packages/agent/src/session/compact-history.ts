import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import { messageTokens } from "../model/estimate-tokens.ts";
import type { Session } from "./session.ts";

/** What became of a history. */
export interface Compacted {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly replaced: number;
  readonly dropped: number;
}

/** Results of the last turns are what the model is working with. */
const keptTurns = 2;

/**
 * Brings a history within `maxTokens`: old results are replaced by their handle and outline, oldest first; where that is
 * not enough, the oldest exchanges go, whole. A call and its result stay together, the first message stays, and so do the
 * last turns, so that it may stay above the bound. Undefined: nothing was to be done.
 */
export function compactHistory(session: Session, maxTokens: number): Compacted | undefined {
  const tokensBefore = messageTokens(session.messages);
  if (tokensBefore <= maxTokens) return undefined;
  let tokens = tokensBefore;
  let replaced = 0;
  const recent = recentFrom(session.messages);
  for (const [index, message] of session.messages.entries()) {
    if (tokens <= maxTokens || index >= recent) break;
    if (message.role !== "tool") continue;
    const brief = briefMessage(message, session.briefs);
    const saved = messageTokens([message]) - messageTokens([brief.message]);
    if (saved <= 0) continue;
    session.messages[index] = brief.message;
    replaced += brief.replaced;
    tokens -= saved;
  }
  const dropped = tokens > maxTokens ? dropOldest(session, maxTokens) : 0;
  const tokensAfter = messageTokens(session.messages);
  return replaced === 0 && dropped === 0 ? undefined : { tokensBefore, tokensAfter, replaced, dropped };
}

/** Index of the message with which the last turns begin. */
function recentFrom(messages: readonly LanguageModelV4Message[]): number {
  let turns = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    if (messages[index]?.role === "assistant") turns += 1;
    if (turns === keptTurns) return index;
  }
  return 0;
}

function briefMessage(message: Extract<LanguageModelV4Message, { role: "tool" }>, briefs: ReadonlyMap<string, string>): { readonly message: LanguageModelV4Message; readonly replaced: number } {
  let replaced = 0;
  const content = message.content.map((part) => {
    if (part.type !== "tool-result") return part;
    const brief = `[shortened] ${briefs.get(part.toolCallId) ?? "This result is not kept any more; call again for it."}`;
    if (brief.length >= JSON.stringify(part.output).length) return part;
    replaced += 1;
    return { ...part, output: { type: "text", value: brief } } satisfies LanguageModelV4ToolResultPart;
  });
  return { message: { ...message, content }, replaced };
}

const leftOut = "[Earlier parts of this conversation are left out.]";

/** Takes whole exchanges out after the first message: from an assistant's message up to the next one, or to the next task. */
function dropOldest(session: Session, maxTokens: number): number {
  let dropped = 0;
  for (;;) {
    const { messages } = session;
    const first = messages[1]?.role === "user" && isNote(messages[1]) ? 2 : 1;
    const recent = recentFrom(messages);
    if (messageTokens(messages) <= maxTokens || first >= recent) return dropped;
    let end = first + 1;
    while (end < recent && messages[end]?.role === "tool") end += 1;
    dropped += end - first;
    session.messages = [...messages.slice(0, 1), { role: "user", content: [{ type: "text", text: leftOut }] }, ...messages.slice(end)];
  }
}

function isNote({ content }: LanguageModelV4Message): boolean {
  const [part] = Array.isArray(content) ? content : [];
  return part?.type === "text" && part.text === leftOut;
}
