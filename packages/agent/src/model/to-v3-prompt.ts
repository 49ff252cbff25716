import type { LanguageModelV3Prompt, LanguageModelV4Message, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";

/** The same history for a provider of the older specification, which has other words for files in results. */
export function toV3Prompt(messages: readonly LanguageModelV4Message[]): LanguageModelV3Prompt {
  return messages.map((message) => (message.role === "tool" ? { ...message, content: message.content.map((part) => (part.type === "tool-result" ? { ...part, output: outputOf(part.output) } : part)) } : message)) as LanguageModelV3Prompt;
}

function outputOf(output: LanguageModelV4ToolResultPart["output"]): unknown {
  if (output.type !== "content") return output;
  return { ...output, value: output.value.map((item) => (item.type === "file" && item.data.type === "data" ? { type: item.mediaType.startsWith("image/") ? "image-data" : "file-data", mediaType: item.mediaType, data: item.data.data } : item)) };
}
