import { z } from "zod";
import { apiKeyReference } from "./agent-schema.ts";

/** A model whose vectors search goes by, beside words. */
export const embeddingSchema = z
  .strictObject({
    provider: z.enum(["openai", "google", "openai-compatible"]).describe("Whose format the model is spoken to in. openai-compatible: any server that speaks OpenAI's, also a local one; its baseURL is needed"),
    model: z.string().min(1).describe("As the provider names it"),
    dimensions: z.int().min(1).max(16_384).describe("Numbers of its vectors; a model that can give several is asked for these"),
    baseURL: z.url().optional().describe("Where the provider is, e.g. http://localhost:11434/v1. Default: the provider's own"),
    apiKey: apiKeyReference.optional().describe("A reference to the key. Default: the environment variable that the provider names, such as OPENAI_API_KEY"),
    timeoutMs: z.int().min(10).max(600_000).optional().describe("How long a search waits for vectors before it goes by words alone. Default 2000"),
    maxTexts: z.int().min(1).optional().describe("Definitions and queries that one process sends; beyond it words alone are compared. Default 50000"),
  })
  .describe("Searches compare meanings as well as words: definitions of tools and queries are sent to this model. Default: words alone, and nothing is sent; see docs/guide/finding-tools.md");

export type EmbeddingConfig = z.infer<typeof embeddingSchema>;
