import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "@callgate/contract";
import { defineTool, functionSource, shapeSource } from "@callgate/runtime/source";
import { afterEach, describe, expect, test } from "vitest";
import { createAgent } from "./create-agent.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate, AgentGateOptions } from "./fixtures/agent-gate.ts";
import { scriptedModel } from "./model/scripted-model.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

type ToolOf = Parameters<typeof defineTool>[0];
const tool = (name: string, handler: ToolOf["handler"], more: Partial<ToolOf> = {}) => defineTool({ name, description: `Does ${name}.`, effect: "read", input: true, ...more, handler });

async function worldOf(tools: Parameters<typeof agentGate>[0], options: AgentGateOptions = {}): Promise<AgentGate> {
  const gate = await agentGate(tools, options);
  open.push(gate);
  return gate;
}

const calling = (...calls: readonly { readonly tool: string; readonly input?: object }[]) => ({ calls: calls.map(({ tool: name, input = {} }) => ({ tool: name, input: input as Record<string, number> })) });

describe("agent-and-executor: what the gate does for an agent", () => {
  test("agent-and-executor 25: a tool that is renamed is called by its new name, and by no other", async () => {
    const source = shapeSource(functionSource({ namespace: "math", tools: [tool("add", () => 3)] }), { rename: { add: "plus" } });
    const { gate } = await worldOf({}, { sources: [source] });
    const result = await createAgent({ name: "a", model: scriptedModel([calling({ tool: "math.plus" }, { tool: "math.add" }), "ok"]), gate, mode: "tools" }).run("x");
    expect(result.calls.map(({ status }) => status)).toEqual(["ok", "invalid"]);
  });

  test("agent-and-executor 66: what the policy denies is denied on every way an agent has to it", async () => {
    const done: string[] = [];
    const { gate } = await worldOf({ db: [tool("drop", () => { done.push("dropped"); }, { effect: "destructive" })] }, { verdict: () => "deny" });
    const code = "return await tools.db.drop({})";
    for (const [mode, turn] of [["tools", calling({ tool: "db.drop" })], ["code", { calls: [{ tool: "execute_code", input: { code } }] }], ["blocks", `\`\`\`ts\n${code}\n\`\`\``]] as const) {
      const result = await createAgent({ name: "a", model: scriptedModel([turn, "ok"]), gate, mode }).run("x");
      expect([mode, result.calls.map(({ status }) => status), done]).toEqual([mode, ["not_executed"], []]);
    }
  });

  test("agent-and-executor 67: a read that declares it is made once for equal arguments, whatever their order; an error is not kept", async () => {
    let [made, failed] = [0, 0];
    const { gate } = await worldOf({ t: [
      tool("look", () => { made += 1; return made; }, { cache: { ttlMs: 60_000 } }),
      tool("fail", () => { failed += 1; throw new Error("no"); }, { cache: { ttlMs: 60_000 } }),
    ] });
    const turns = [calling({ tool: "t.look", input: { a: 1, b: 2 } }, { tool: "t.look", input: { b: 2, a: 1 } }), calling({ tool: "t.look", input: { a: 1, b: 2 } }), calling({ tool: "t.fail" }), calling({ tool: "t.fail" }), "ok"];
    const result = await createAgent({ name: "a", model: scriptedModel(turns), gate, mode: "tools" }).run("x");
    expect(result.calls.slice(0, 3).map(({ text }) => text)).toEqual(["1", "1", "1"]);
    expect([made, failed]).toEqual([1, 2]);
  });

  test("agent-and-executor 68: a tool that declares retries is tried again, an abort stops the wait, and wrong arguments or a write are not tried again", async () => {
    const tries = { flaky: 0, never: 0, write: 0, strict: 0 };
    const busy = (): never => { throw new ToolError({ code: "BUSY", message: "busy", retryable: true, notApplied: true }); };
    const retry = { retries: 3, minDelayMs: 1, maxDelayMs: 2 };
    const { gate } = await worldOf({ t: [
      tool("flaky", () => ((tries.flaky += 1) < 3 ? busy() : "there"), { retry }),
      tool("never", () => { tries.never += 1; return busy(); }, { retry: { retries: 5, minDelayMs: 20_000, maxDelayMs: 60_000 } }),
      tool("write", () => { tries.write += 1; return busy(); }, { effect: "write" }),
      tool("strict", () => { tries.strict += 1; }, { retry, input: { type: "object", additionalProperties: false } }),
    ] });
    const result = await createAgent({ name: "a", model: scriptedModel([calling({ tool: "t.flaky" }, { tool: "t.write" }, { tool: "t.strict", input: { x: 1 } }), "ok"]), gate, mode: "tools" }).run("x");
    expect(result.calls.map(({ status }) => status)).toEqual(["ok", "failed", "invalid"]);
    expect(tries).toMatchObject({ flaky: 3, write: 1, strict: 0 });
    const stopping = new AbortController();
    const waiting = createAgent({ name: "a", model: scriptedModel([calling({ tool: "t.never" })]), gate, mode: "tools" }).run("x", { signal: stopping.signal });
    while (tries.never === 0) await sleep(5);
    stopping.abort();
    expect((await waiting).stop).toEqual({ kind: "cancelled" });
    expect(tries.never).toBe(1);
  });
});
