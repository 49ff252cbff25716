import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { agentSchema } from "../config/agent-schema.ts";
import type { AgentConfig } from "../config/agent-schema.ts";
import { openModel } from "./open-model.ts";

const folder = mkdtempSync(join(tmpdir(), "callgate-model-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const host = { folder, env: { OPENAI_API_KEY: "k-123456" } };

describe("openModel", () => {
  test("opens a provider's model by configuration, with its key from the environment", async () => {
    expect(await openModel({ provider: "openai", model: "m" }, host)).toMatchObject({ modelId: "m", specificationVersion: "v4" });
    expect(await openModel({ provider: "anthropic", model: "m", apiKey: "env:OPENAI_API_KEY" }, host)).toMatchObject({ modelId: "m" });
  });

  test.each<[AgentConfig | undefined, string]>([
    [undefined, "npm i @ai-sdk/anthropic"],
    [undefined, "http://localhost:11434/v1"],
    [{ provider: "openai" }, "agent.model is missing"],
    [{ provider: "anthropic", model: "m" }, "ANTHROPIC_API_KEY"],
    [{ provider: "anthropic", model: "m", apiKey: "env:NOT_SET" }, "NOT_SET"],
    [{ provider: "openai-compatible", model: "m" }, "agent.baseURL is missing"],
    [{ provider: "google", model: "m", apiKey: "env:OPENAI_API_KEY" }, "npm i @ai-sdk/google"],
    [{ provider: "openai", model: "m", script: "x.json" }, "agent.script"],
    [{ provider: "scripted" }, "agent.script is missing"],
    [{ provider: "scripted", script: "gone.json" }, "gone.json"],
  ])("says what is missing: %j", async (config, said) => {
    const message = await openModel(config, host).then(() => "opened", (fault: unknown) => (fault as { readonly code?: string }).code === "CONFIG_INVALID" ? (fault as Error).message : String(fault));
    expect(message).toContain(said);
    expect(message).not.toContain("k-123456");
  });

  test("a provider's package is the one beside the configuration; a server of OpenAI's format is asked what a stream used up", async () => {
    const own = join(folder, "own");
    for (const [name, make] of [["openai-compatible", "createOpenAICompatible"], ["google", "createGoogleGenerativeAI"]] as const) {
      mkdirSync(join(own, "node_modules", "@ai-sdk", name), { recursive: true });
      writeFileSync(join(own, "node_modules", "@ai-sdk", name, "index.js"), `exports.${make} = (options) => (model) => ({ ...options, model });`);
    }
    const local = await openModel({ provider: "openai-compatible", model: "qwen3", baseURL: "http://localhost:11434/v1" }, { folder: own, env: {} });
    expect(local).toEqual({ model: "qwen3", name: "local", includeUsage: true, baseURL: "http://localhost:11434/v1", fetch: expect.any(Function) as unknown });
    const google = await openModel({ provider: "google", model: "gemini-2.5-pro" }, { folder: own, env: { GOOGLE_GENERATIVE_AI_API_KEY: "k-7" } });
    expect(google).toEqual({ model: "gemini-2.5-pro", apiKey: "k-7", fetch: expect.any(Function) as unknown });
  });

  test("takes the turns of a file, and says which of them is none", async () => {
    writeFileSync(join(folder, "script.json"), '["hello"]');
    writeFileSync(join(folder, "wrong.json"), '["hello", 5]');
    expect(await openModel({ provider: "scripted", script: "script.json" }, host)).toMatchObject({ provider: "scripted" });
    await expect(openModel({ provider: "scripted", script: "wrong.json" }, host)).rejects.toThrow("turn 2");
  });

  test("a key that is written out is refused by the configuration", () => {
    expect(agentSchema.safeParse({ provider: "openai", model: "m", apiKey: "sk-123" }).success).toBe(false);
  });
});
