import type { LanguageModelV3, LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { defineTool } from "@callgate/runtime/source";
import { expect, test } from "vitest";
import { createAgent } from "../create-agent.ts";
import { agentGate } from "../fixtures/agent-gate.ts";
import { scriptedModel } from "./scripted-model.ts";

test("a model of the older specification works as well, and is shown pictures in its own words", async () => {
  const script = scriptedModel([{ calls: [{ tool: "t.draw" }] }, "A plot."]);
  const asked: LanguageModelV3CallOptions[] = [];
  const model: LanguageModelV3 = {
    specificationVersion: "v3",
    provider: "older",
    modelId: "m",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("an agent streams")),
    doStream(options) {
      asked.push(options);
      return script.doStream(options as unknown as Parameters<typeof script.doStream>[0]) as unknown as ReturnType<LanguageModelV3["doStream"]>;
    },
  };
  const draw = defineTool({ name: "draw", description: "Draws.", effect: "read", input: true, async handler(_args, context) {
    await context.attach({ name: "plot.png", mimeType: "image/png", bytes: new Uint8Array([1, 2, 3]) });
    return "drawn";
  } });
  const { gate } = await agentGate({ t: [draw] });
  const result = await createAgent({ name: "a", model, gate, mode: "tools" }).run("draw");
  await gate.close();
  expect(result).toMatchObject({ answer: "A plot.", model: "older/m" });
  const told = asked[1]?.prompt.flatMap((message) => (message.role === "tool" ? message.content : []))[0];
  expect(told).toMatchObject({ output: { type: "content", value: [{ type: "text", text: "drawn" }, { type: "image-data", mediaType: "image/png", data: "AQID" }] } });
});
