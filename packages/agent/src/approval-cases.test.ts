import { rmSync } from "node:fs";
import { join } from "node:path";
import { callbackApprover } from "@callgate/runtime/broker";
import { defineTool } from "@callgate/runtime/source";
import { makeOwnedFolder } from "@callgate/testkit";
import { afterEach, describe, expect, test } from "vitest";
import type { AgentEvent } from "./agent-event.ts";
import { createAgent } from "./create-agent.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate, AgentGateOptions } from "./fixtures/agent-gate.ts";
import { assertAnswered, resultsIn } from "./fixtures/told.ts";
import { scriptedModel } from "./model/scripted-model.ts";
import type { SessionState } from "./session/session-state.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

function bank() {
  const paid: unknown[] = [];
  const asked: string[] = [];
  return {
    paid,
    asked,
    tools: {
      bank: [
        defineTool({ name: "pay", description: "Pays.", effect: "write", input: true, handler: (args) => { paid.push(args); return { paid: paid.length }; } }),
        defineTool({ name: "balance", description: "Reads.", effect: "read", input: true, handler: () => { asked.push("balance"); return 100; } }),
      ],
    },
  };
}

async function worldOf(tools: Parameters<typeof agentGate>[0], options: AgentGateOptions = {}): Promise<AgentGate> {
  const gate = await agentGate(tools, { verdict: (tool) => (tool === "bank.pay" ? "ask" : "allow"), ...options });
  open.push(gate);
  return gate;
}

/** As it goes to another process. */
const throughJson = (state: SessionState): SessionState => JSON.parse(JSON.stringify(state)) as SessionState;

async function answerAll({ gate }: AgentGate, approved: boolean): Promise<number> {
  const questions = await gate.approvals.list();
  for (const { question } of questions) await gate.approvals.answer(question.approvalId, { approved, by: "boss", ...(approved ? {} : { reason: "too much" }) });
  return questions.length;
}

describe("agent-and-executor: approvals", () => {
  const both = { calls: [{ tool: "bank.pay", input: { amount: 5 }, callId: "p" }, { tool: "bank.balance", callId: "b" }] };

  test.each([true, false])("agent-and-executor 28: of a gated and an open call only the gated one is asked; approved: %s", async (approved) => {
    const { tools, paid, asked } = bank();
    const world = await worldOf(tools);
    const first = await createAgent({ name: "a", model: scriptedModel([both]), gate: world.gate, mode: "tools", approvals: "suspend" }).run("pay");
    expect(first.stop).toMatchObject({ kind: "suspended", waits: [{ kind: "approval", callId: "p", tool: "bank.pay" }] });
    expect([paid.length, asked.length]).toEqual([0, 1]);
    expect(await answerAll(world, approved)).toBe(1);

    const model = scriptedModel(["Done."]);
    const result = await createAgent({ name: "a", model, gate: world.gate, mode: "tools", approvals: "suspend" }).resume(throughJson(first.state));
    expect([paid.length, asked.length]).toEqual([approved ? 1 : 0, 1]);
    expect(resultsIn(model.asked[0]).map(({ callId }) => callId)).toEqual(["p", "b"]);
    expect(result.calls).toMatchObject([{ callId: "p", status: approved ? "ok" : "not_executed", effectStatus: approved ? "done" : "none" }]);
    expect(result.answer).toBe("Done.");
    assertAnswered(result.state.messages);
  });

  test("a conversation that waits takes no task, and resuming it before the answer changes nothing", async () => {
    const { tools, paid } = bank();
    const world = await worldOf(tools);
    const agent = createAgent({ name: "a", model: scriptedModel([both, "Paid."]), gate: world.gate, mode: "tools", approvals: "suspend" });
    const first = await agent.run("pay");
    await expect(agent.run("more", { state: first.state })).rejects.toMatchObject({ code: "USAGE" });
    const again = await agent.resume(first.state);
    expect(again.stop.kind).toBe("suspended");
    expect(paid).toEqual([]);
    await answerAll(world, true);
    expect((await agent.resume(again.state)).answer).toBe("Paid.");
    expect(paid).toEqual([{ amount: 5 }]);
  });

  test("agent-and-executor 29: a denied call is asked about once, its reason reaches the model, and the same again asks nobody", async () => {
    const { tools, paid } = bank();
    let questions = 0;
    const world = await worldOf(tools, { approver: callbackApprover(() => { questions += 1; return { kind: "denied", by: "boss", reason: "not on a Monday" }; }) });
    const code = 'import { bank } from "tools";\nreturn await bank.pay({ amount: 7 });';
    const again = { calls: [{ tool: "execute_code", input: { code } }] };
    const model = scriptedModel([again, again, "I could not pay."]);
    const events: AgentEvent[] = [];
    const result = await createAgent({ name: "a", model, gate: world.gate, mode: "code", limits: { repairs: 3 } }).run("pay", { onEvent: (event) => void events.push(event) });
    expect(questions).toBe(1);
    expect(paid).toEqual([]);
    expect(resultsIn(model.asked[1])[0]?.text).toContain("not on a Monday");
    expect(events.filter(({ kind }) => kind === "repair" || kind === "escalation")).toEqual([]);
    expect(events.filter(({ kind }) => kind.startsWith("approval"))).toMatchObject([{ kind: "approval-requested", question: { tool: "bank.pay" } }, { kind: "approval-answered", approved: false, by: "boss" }]);
    expect(result).toMatchObject({ answer: "I could not pay.", calls: [{ status: "not_executed" }, { status: "not_executed" }] });
  });

  test("agent-and-executor 30: what waits is saved, another process approves and resumes, and exactly the approved arguments are performed", async () => {
    const folder = makeOwnedFolder("callgate-agent");
    const journalPath = join(folder, "journal.db");
    const { tools, paid } = bank();
    const here = await agentGate(tools, { verdict: (tool) => (tool === "bank.pay" ? "ask" : "allow"), journalPath });
    const first = await createAgent({ name: "a", model: scriptedModel([both]), gate: here.gate, mode: "tools", approvals: "suspend" }).run("pay");
    await here.gate.close();

    const there = await worldOf(tools, { journalPath });
    await answerAll(there, true);
    const state = throughJson(first.state);
    const changed = throughJson(first.state);
    const [waiting] = changed.open;
    const tampered: SessionState = { ...changed, open: changed.open.map((one) => (one === waiting && one.waiting?.kind === "approval" ? { ...one, waiting: { ...one.waiting, program: one.waiting.program.replace("5", "5000") } } : one)) };
    const agent = () => createAgent({ name: "a", model: scriptedModel(["Done."]), gate: there.gate, mode: "tools", approvals: "suspend" });
    const refused = await agent().resume(tampered);
    expect(refused.calls).toMatchObject([{ callId: "p", status: "not_executed", text: expect.stringContaining("not the same") as string }]);
    expect(paid).toEqual([]);
    expect((await agent().resume(state)).answer).toBe("Done.");
    expect(paid).toEqual([{ amount: 5 }]);
    await open.pop()?.gate.close();
    rmSync(folder, { recursive: true });
  });

  test("what waits and cannot go on now waits on, with why; the answer is not lost", async () => {
    const folder = makeOwnedFolder("callgate-agent");
    const journalPath = join(folder, "journal.db");
    const { tools, paid } = bank();
    const verdict = (tool: string) => (tool === "bank.pay" ? "ask" : "allow") as "ask" | "allow";
    const here = await agentGate(tools, { verdict, journalPath });
    const first = await createAgent({ name: "a", model: scriptedModel([both]), gate: here.gate, mode: "tools", approvals: "suspend" }).run("pay");
    await answerAll(here, true);
    await here.gate.close();
    const changed = { bank: [...tools.bank.slice(1), defineTool({ name: "pay", description: "Pays.", effect: "write", input: { type: "object", required: ["iban"] }, handler: (args) => paid.push(args) })] };
    const other = await agentGate(changed, { verdict, journalPath });
    const again = await createAgent({ name: "a", model: scriptedModel([]), gate: other.gate, mode: "tools", approvals: "suspend" }).resume(throughJson(first.state));
    expect(again).toMatchObject({ stop: { kind: "suspended" }, calls: [{ callId: "p", status: "waiting", text: expect.stringContaining("RUN_NOT_RESUMABLE") as string }] });
    await other.gate.close();
    const there = await worldOf(tools, { journalPath });
    expect((await createAgent({ name: "a", model: scriptedModel(["Paid."]), gate: there.gate, mode: "tools", approvals: "suspend" }).resume(throughJson(again.state))).answer).toBe("Paid.");
    expect(paid).toEqual([{ amount: 5 }]);
    await open.pop()?.gate.close();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ["throws", () => { throw new Error("no line"); }],
    ["gives no answer that is one", () => ({}) as never],
  ])("agent-and-executor 31: an approver that %s has denied", async (_name, answer) => {
    const { tools, paid } = bank();
    const world = await worldOf(tools, { approver: callbackApprover(answer) });
    const result = await createAgent({ name: "a", model: scriptedModel([both, "no"]), gate: world.gate, mode: "tools" }).run("pay");
    expect(paid).toEqual([]);
    expect(result.calls[0]).toMatchObject({ status: "not_executed", effectStatus: "none" });
  });

  test("agent-and-executor 32: who approves sees the call of a block in full, whichever way the agent reaches tools", async () => {
    for (const mode of ["tools", "code", "blocks"] as const) {
      const { tools, paid } = bank();
      const seen: unknown[] = [];
      const world = await worldOf(tools, { approver: callbackApprover((question) => { seen.push([question.tool, question.argsSummary]); return { kind: "approved", by: "boss" }; }) });
      const code = 'import { bank } from "tools";\nreturn await bank.pay({ amount: 5 });';
      const turn = mode === "tools" ? { calls: [{ tool: "bank.pay", input: { amount: 5 } }] } : mode === "code" ? { calls: [{ tool: "execute_code", input: { code } }] } : `Paying:\n\n\`\`\`ts\n${code}\n\`\`\``;
      const result = await createAgent({ name: "a", model: scriptedModel([turn, "Paid."]), gate: world.gate, mode }).run("pay");
      expect([mode, result.answer, seen, paid]).toEqual([mode, "Paid.", [["bank.pay", { amount: 5 }]], [{ amount: 5 }]]);
    }
  });

  test("agent-and-executor 33: with a grant for these arguments the same pass, others ask, and one for none does not cover some", async () => {
    const { tools, paid } = bank();
    let questions = 0;
    const world = await worldOf(tools, { approver: callbackApprover(() => { questions += 1; return { kind: "denied", by: "boss" }; }) });
    const { user } = world.gate.principal;
    const given = { tool: "bank.pay", user, agent: "a", by: "boss", maxUses: 10, expiresAtMs: Date.now() + 60_000 } as const;
    await world.gate.grants.add({ ...given, args: { "/amount": 1 } });
    await world.gate.grants.add({ ...given, args: {} });
    const pay = (amount: number) => ({ tool: "bank.pay", input: { amount } });
    await createAgent({ name: "a", model: scriptedModel([{ calls: [pay(1), pay(1), pay(2)] }, "ok"]), gate: world.gate, mode: "tools" }).run("pay");
    expect(paid).toEqual([{ amount: 1 }, { amount: 1 }]);
    expect(questions).toBe(1);
  });

  test("the user's answers are no approvals: what is asked of the user reaches only the model", async () => {
    const { tools, paid } = bank();
    const world = await worldOf(tools);
    const model = scriptedModel([{ calls: [{ tool: "ask_user", input: { question: "May I pay?" } }] }, { calls: [{ tool: "bank.pay", input: { amount: 5 } }] }, "no"]);
    const result = await createAgent({ name: "a", model, gate: world.gate, mode: "tools", askUser: () => "yes, approved" }).run("pay");
    expect(paid).toEqual([]);
    expect(result.calls.map(({ tool, status }) => [tool, status])).toEqual([["ask_user", "ok"], ["bank.pay", "not_executed"]]);
  });
});
