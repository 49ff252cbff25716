import { afterEach, expect, test } from "vitest";
import { aiTools } from "./ai-tools.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate } from "./fixtures/agent-gate.ts";
import { scriptedModel } from "./model/scripted-model.ts";
import type { ScriptedTurn } from "./model/scripted-model.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

async function withAi(script: readonly ScriptedTurn[]) {
  const model = scriptedModel(script);
  const world = await agentGate({ ai: aiTools({ model, labels: ["external"], price: { inputMicroUsdPerMTok: 1_000_000, outputMicroUsdPerMTok: 1_000_000 } }) });
  open.push(world);
  return { model, gate: world.gate };
}

test("ai.summarize is a tool of a program, with its cost on record and its answer labelled", async () => {
  const { gate, model } = await withAi([{ text: "Short.", usage: { inputTokens: 40, outputTokens: 2 } }]);
  const result = await gate.run('import { ai } from "tools";\nreturn (await ai.summarize({ text: "long", words: 20 })).length;');
  expect(result).toMatchObject({ status: "completed", value: { value: 6 }, cost: { tokens: 42, microUsd: 42 } });
  expect(JSON.stringify(model.asked[0]?.prompt)).toContain("at most 20 words");
  expect(gate.describe(["ai.summarize"])[0]?.spec).toMatchObject({ effect: "read", labels: ["untrusted", "external"] });
});

test("ai.extract gives what matches the schema, after being told once, and fails where it does not", async () => {
  const schema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  const mended = await withAi(['{"total":"many"}', '```json\n{"total":3}\n```']);
  expect((await mended.gate.call("ai.extract", { text: "three", schema })).outcome).toMatchObject({ kind: "ok", value: { total: 3 } });
  expect(JSON.stringify(mended.model.asked[1]?.prompt[0])).toContain("/total");
  const failing = await withAi(["no", "no"]);
  expect((await failing.gate.call("ai.extract", { text: "three", schema })).outcome).toMatchObject({ kind: "failed", error: { code: "NO_MATCH" } });
});
