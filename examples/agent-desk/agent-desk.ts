// An agent that reminds customers of overdue invoices, twice: with a program, and with single calls. The model is a script:
// nothing is sent anywhere. The end state is checked, and the meter says what each way would have cost a real model.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createCallgate, scriptedModel } from "callgate";
import type { AgentMode, AgentResult, ScriptedTurn } from "callgate";
import { list } from "./tools/invoices.ts";
import { remind, sent } from "./tools/mail.ts";

const task = "Remind every customer with overdue invoices, once, with the sum of what is overdue.";
const byProgram = JSON.parse(readFileSync(new URL("script.json", import.meta.url), "utf8")) as ScriptedTurn[];

const stateFolder = mkdtempSync(join(tmpdir(), "callgate-agent-desk-"));
const gate = await createCallgate({
  stateFolder,
  // A tool file's exports are named after themselves; here they are given by hand.
  tools: { invoices: [{ ...list, name: "list" }], mail: [{ ...remind, name: "remind" }] },
  rules: [{ id: "all", allow: "*" }],
});

async function remindAll(mode: AgentMode, script: readonly ScriptedTurn[]): Promise<AgentResult> {
  sent.length = 0;
  const agent = createAgent({ name: "desk", model: scriptedModel(script), gate, mode, limits: { resultTokens: 20_000 } });
  const result = await agent.run(task);
  const totals = Object.fromEntries(sent.map(({ customer, total }) => [customer, total]));
  assert.equal(sent.length, 5, "five customers are reminded, each once");
  assert.deepEqual(totals, expected, `${mode}: what each of them owes`);
  assert.equal(result.stop.kind, "answered");
  const { turns, toolCalls, inputTokens, outputTokens } = result.usage;
  console.log(`${mode}: ${turns} turns, ${toolCalls} calls of the model, about ${inputTokens} tokens in and ${outputTokens} out`);
  return result;
}

const all = (await gate.call("invoices.list", {}, { budgetTokens: 100_000 })).outcome;
assert.equal(all.kind, "ok");
const overdue = (all.kind === "ok" ? (all.value as { customer: string; amount: number; status: string }[]) : []).filter(({ status }) => status === "overdue");
const expected = overdue.reduce<Record<string, number>>((sums, { customer, amount }) => ({ ...sums, [customer]: (sums[customer] ?? 0) + amount }), {});

const code = await remindAll("code", byProgram);
const direct = await remindAll("tools", [
  { calls: [{ tool: "invoices.list" }] },
  { calls: Object.entries(expected).map(([customer, total]) => ({ tool: "mail.remind", input: { customer, total } })) },
  "All five were reminded.",
]);
assert.ok(direct.usage.inputTokens > code.usage.inputTokens, "the program keeps the invoices out of the model's context");
console.log(`the same work with a program: ${(direct.usage.inputTokens / code.usage.inputTokens).toFixed(1)} times fewer tokens in`);
await gate.close();
rmSync(stateFolder, { recursive: true });
