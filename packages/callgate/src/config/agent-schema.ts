import { z } from "zod";

/** Of a provider of models. */
export const apiKeyReference = z.string().regex(/^(env:|file:|keychain:|\$\{)/, "must be a reference, such as env:OPENAI_API_KEY: a secret does not belong into this file");

/** The model and the bounds of `callgate agent`. */
export const agentSchema = z
  .strictObject({
    provider: z.enum(["openai", "anthropic", "google", "openai-compatible", "scripted"]).describe("Whose format the model is spoken to in. openai-compatible: any server that speaks OpenAI's, also a local one; its baseURL is needed. scripted: no model, but the turns of a file"),
    model: z.string().min(1).optional().describe("As the provider names it. Needed for all but scripted"),
    baseURL: z.url().optional().describe("Where the provider is, e.g. http://localhost:11434/v1. Default: the provider's own"),
    apiKey: apiKeyReference.optional().describe("A reference to the key. Default: the environment variable that the provider names, such as OPENAI_API_KEY"),
    script: z.string().min(1).optional().describe("Of scripted: a JSON file with a list of turns; a text, or { text, calls: [{ tool, input }] }"),
    instructions: z.string().optional(),
    tools: z.array(z.string()).min(1).optional().describe('Patterns over qualified names, such as ["crm.*"]. Default: every tool'),
    mode: z.enum(["tools", "code", "select", "blocks", "auto"]).optional().describe("How the model reaches tools; see docs/guide/agent.md. Default auto"),
    limits: z
      .strictObject({
        turns: z.int().positive().optional().describe("Answers of the model. Default 25"),
        toolCalls: z.int().positive().optional().describe("Default 200"),
        tokens: z.int().positive().optional().describe("Of all turns, in and out. Default 1,000,000"),
        microUsd: z.int().min(0).optional().describe("Millionths of a US dollar. Default: no bound"),
        wallMs: z.int().positive().optional().describe("Default 30 minutes"),
        errors: z.int().positive().optional().describe("Turns in a row in which every call failed. Default 5"),
        repairs: z.int().min(0).optional().describe("How often in a row the model may write anew what could not be done as written. Default 3"),
        concurrentCalls: z.int().positive().optional().describe("Default 8"),
        historyTokens: z.int().positive().optional().describe("What the history is kept within. Default 100,000"),
        resultTokens: z.int().min(100).optional().describe("What the model may see of one result. Default 2000"),
      })
      .optional(),
    price: z
      .strictObject({
        inputMicroUsdPerMTok: z.number().min(0),
        cachedMicroUsdPerMTok: z.number().min(0).optional(),
        outputMicroUsdPerMTok: z.number().min(0),
      })
      .optional()
      .describe("Millionths of a US dollar for a million tokens. Without it the model costs nothing as far as microUsd goes"),
  })
  .describe("The model that callgate agent asks");

export type AgentConfig = z.infer<typeof agentSchema>;
