import type { LanguageModelV4Message } from "@ai-sdk/provider";

/** Of a picture of ordinary size, whatever its bytes. */
const pictureTokens = 1_500;

/** From above, for any tokenizer there is: English and code run at 3.5 to 4 characters a token. Exact counts are the provider's word. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 3.5);
}

/** The same of messages, with a few tokens for the frame of each. */
export function messageTokens(messages: readonly LanguageModelV4Message[]): number {
  let [characters, pictures] = [0, 0];
  const replacer = (_key: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null || !("type" in value) || value.type !== "file") return value;
    pictures += 1;
    return undefined;
  };
  for (const message of messages) characters += (JSON.stringify(message.content, replacer) ?? "").length + 14;
  return Math.ceil(characters / 3.5) + pictures * pictureTokens;
}
