import { defineTool } from "@callgate/runtime/source";
import { afterEach, describe, expect, test } from "vitest";
import { agentTool } from "./agent-tool.ts";
import type { Agent } from "./agent.ts";
import { createAgent } from "./create-agent.ts";
import { createTeam } from "./create-team.ts";
import { agentGate } from "./fixtures/agent-gate.ts";
import type { AgentGate } from "./fixtures/agent-gate.ts";
import { resultsIn } from "./fixtures/told.ts";
import { scriptedModel } from "./model/scripted-model.ts";
import type { ScriptedTurn } from "./model/scripted-model.ts";

const open: AgentGate[] = [];
afterEach(async () => {
  for (const gate of open.splice(0)) await gate.gate.close();
});

const written: string[] = [];
const tools = {
  data: [defineTool({ name: "look", description: "Looks.", effect: "read", labels: ["private"], input: true, handler: () => 7 })],
  mail: [defineTool({ name: "send", description: "Sends.", effect: "write", input: true, handler: () => { written.push("mail"); return "sent"; } })],
};

/** A gate with a researcher behind `agents.research`; each call of it says the same script anew. */
async function withResearcher(script: readonly ScriptedTurn[], effect: "read" | "write" = "write") {
  written.length = 0;
  const made: { researcher?: Agent } = {};
  const research = agentTool(() => {
    if (made.researcher === undefined) throw new Error("not there yet");
    return made.researcher;
  }, { name: "research", description: "Finds things out.", effect });
  const world = await agentGate({ ...tools, agents: [research] });
  open.push(world);
  const turns = Array.from({ length: 8 }, () => script).flat();
  made.researcher = createAgent({ name: "researcher", model: scriptedModel(turns), gate: world.gate, mode: "tools", tools: ["data.*", "mail.*"] });
  return world;
}

describe("an agent as a tool", () => {
  test("answers like any tool, is on record, and what it uses up counts for its caller", async () => {
    const { gate, events } = await withResearcher([{ calls: [{ tool: "data.look" }], usage: { inputTokens: 100, outputTokens: 10 } }, { text: "It is 7.", usage: { inputTokens: 200, outputTokens: 10 } }]);
    const model = scriptedModel([{ calls: [{ tool: "agents.research", input: { task: "find it" } }], usage: { inputTokens: 10, outputTokens: 1 } }, { text: "7.", usage: { inputTokens: 10, outputTokens: 1 } }]);
    const result = await createAgent({ name: "boss", model, gate, mode: "tools" }).run("find");
    expect(resultsIn(model.asked[1])[0]?.text).toContain("It is 7.");
    expect(result.usage).toMatchObject({ inputTokens: 320, outputTokens: 22, toolCalls: 2 });
    expect(events.filter((event) => event.kind === "run-started" && event.runKind === "agent").length).toBe(2);
    expect(events.filter((event) => event.kind === "call-progressed")).toMatchObject([{ message: "researcher: turn 1" }, { message: "researcher: turn 2" }]);
  });

  test("what was used up before a person was waited for still counts after, also by a sub-agent of the program that goes on", async () => {
    const made: { helper?: Agent } = {};
    const helperTool = agentTool(() => {
      if (made.helper === undefined) throw new Error("not there yet");
      return made.helper;
    }, { name: "help", description: "Helps.", effect: "read" });
    const world = await agentGate({ ...tools, agents: [helperTool] }, { verdict: (tool) => (tool === "mail.send" ? "ask" : "allow") });
    open.push(world);
    made.helper = createAgent({ name: "helper", model: scriptedModel([{ calls: [{ tool: "data.look" }] }, "It is 7."]), gate: world.gate, mode: "tools", tools: ["data.*"] });
    const code = 'import { agents, mail } from "tools";\nawait mail.send({});\nreturn await agents.help({ task: "look" });';
    const boss = (script: readonly ScriptedTurn[]) => createAgent({ name: "boss", model: scriptedModel(script), gate: world.gate, mode: "code", approvals: "suspend", closing: "summary", limits: { turns: 3 } });
    const first = await boss([{ calls: [{ tool: "execute_code", input: { code } }] }]).run("go");
    expect(first.stop.kind).toBe("suspended");
    for (const { question } of await world.gate.approvals.list()) await world.gate.approvals.answer(question.approvalId, { approved: true, by: "person" });
    // One turn before, two of the helper: none is left for the boss.
    const result = await boss(["Never asked."]).resume(JSON.parse(JSON.stringify(first.state)) as typeof first.state);
    expect(result.stop).toEqual({ kind: "budget", budget: "turns", limit: 3 });
    expect(result.usage.turns).toBe(2);
    // A new task has its budget anew.
    expect((await boss(["All new."]).run("again", { state: result.state })).answer).toBe("All new.");
  });

  test("is called from a program, several at once", async () => {
    const { gate } = await withResearcher(["An answer."]);
    const code = 'import { agents } from "tools";\nconst all = await Promise.all(["a", "b", "c"].map((task) => agents.research({ task })));\nreturn all.length;';
    const result = await createAgent({ name: "boss", model: scriptedModel([{ calls: [{ tool: "execute_code", input: { code } }] }, "Three."]), gate, mode: "code" }).run("find");
    expect(result.calls).toMatchObject([{ status: "ok", text: expect.stringContaining("value:\n3") as string }]);
    expect(result.usage.turns).toBe(5);
  });

  test("reaches nothing that its caller may not: tools, lane, and what policy says of the caller", async () => {
    const trying: ScriptedTurn[] = [{ calls: [{ tool: "mail.send" }, { tool: "data.look" }] }, "I tried."];
    const call = { calls: [{ tool: "agents.research", input: { task: "write" } }] };
    const narrow = await withResearcher(trying);
    await createAgent({ name: "boss", model: scriptedModel([call, "ok"]), gate: narrow.gate, mode: "tools", tools: ["agents.*", "data.*"] }).run("x");
    expect(written).toEqual([]);

    const program = 'import { agents } from "tools";\nreturn await agents.research({ task: "write" });';
    const inProgram = await withResearcher(trying);
    await createAgent({ name: "boss", model: scriptedModel([{ calls: [{ tool: "execute_code", input: { code: program } }] }, "ok"]), gate: inProgram.gate, mode: "code", tools: ["agents.*", "data.*"] }).run("x");
    expect(written).toEqual([]);

    const reading = await withResearcher(trying, "read");
    await createAgent({ name: "boss", model: scriptedModel([call, "ok"]), gate: reading.gate, mode: "tools" }).run("x");
    expect(written).toEqual([]);

    const wide = await withResearcher(trying);
    await createAgent({ name: "boss", model: scriptedModel([call, "ok"]), gate: wide.gate, mode: "tools" }).run("x");
    expect(written).toEqual(["mail"]);
    const senders = wide.events.flatMap((event) => (event.kind === "call-requested" && event.tool === "mail.send" ? [event.principal.agent] : []));
    expect(senders).toEqual(["boss"]);
  });

  test("neither does an agent that it hands over to: tools, lane and principal stay the caller's", async () => {
    written.length = 0;
    const made: { clerk?: Agent } = {};
    const clerkTool = (name: string, effect: "read" | "write") => agentTool(() => {
      if (made.clerk === undefined) throw new Error("not there yet");
      return made.clerk;
    }, { name, description: "Does office work.", effect });
    const world = await agentGate({ ...tools, agents: [clerkTool("ask", "read"), clerkTool("tell", "write")] });
    open.push(world);
    const script = (turns: readonly ScriptedTurn[]) => scriptedModel(Array.from({ length: 4 }, () => turns).flat());
    const mailer = createAgent({ name: "mailer", model: script([{ calls: [{ tool: "mail.send" }] }, "Sent, I think."]), gate: world.gate, mode: "tools", principal: { ...world.gate.principal, user: "root" } });
    made.clerk = createAgent({ name: "clerk", model: script([{ calls: [{ tool: "handoff_to_mailer", input: { context: "send it" } }] }]), gate: world.gate, mode: "tools", tools: ["data.*"], handoffs: [mailer] });
    const boss = (tool: string, patterns?: readonly string[]) => createAgent({ name: "boss", model: scriptedModel([{ calls: [{ tool, input: { task: "mail" } }] }, "ok"]), gate: world.gate, mode: "tools", ...(patterns === undefined ? {} : { tools: patterns }) });
    await boss("agents.tell", ["agents.*", "data.*"]).run("x");
    await boss("agents.ask").run("x");
    expect(written).toEqual([]);
    await boss("agents.tell").run("x");
    expect(written).toEqual(["mail"]);
    const senders = world.events.flatMap((event) => (event.kind === "call-requested" && event.tool === "mail.send" ? [[event.principal.user, event.principal.agent]] : []));
    expect(senders).toEqual([[world.gate.principal.user, "boss"]]);
  });

  test("what it has read its caller has read: labels reach the caller's later calls", async () => {
    const { gate, events } = await withResearcher([{ calls: [{ tool: "data.look" }] }, "It is 7."]);
    const model = scriptedModel([{ calls: [{ tool: "agents.research", input: { task: "look" } }] }, { calls: [{ tool: "mail.send" }] }, "ok"]);
    await createAgent({ name: "boss", model, gate, mode: "tools" }).run("x");
    const sends = events.flatMap((event) => (event.kind === "run-started" || !("tool" in event) || event.tool !== "mail.send" ? [] : [event.runId]));
    const decided = (await gate.runs.show(sends[0] ?? ""))?.entries.find((entry) => entry.kind === "call-decided");
    expect(decided).toMatchObject({ taint: expect.arrayContaining(["private", "untrusted"]) as unknown });
  });

  test("ends with its caller's budget, and with its caller's signal", async () => {
    const { gate } = await withResearcher([{ calls: [{ tool: "data.look" }] }]);
    const result = await createAgent({ name: "boss", model: scriptedModel([{ calls: [{ tool: "agents.research", input: { task: "for ever" } }] }, "stopped"]), gate, mode: "tools", limits: { turns: 4 } }).run("x");
    expect(result.stop).toMatchObject({ kind: "budget", budget: "turns" });
    expect(result.usage.turns).toBeLessThan(8);
  });
});

describe("a team", () => {
  const member = (gate: AgentGate["gate"], name: string, script: readonly ScriptedTurn[]) => createAgent({ name, model: scriptedModel(script), gate });

  test("takes turns, and each is told what the others said", async () => {
    const world = await agentGate(tools);
    open.push(world);
    const second = scriptedModel(["B1", "B2"]);
    const result = await createTeam({ members: [member(world.gate, "a", ["A1", "A2"]), createAgent({ name: "b", model: second, gate: world.gate })], order: { kind: "round_robin", rounds: 2 } }).run("write");
    expect(result).toMatchObject({ answer: "B2", stop: { kind: "answered" }, turns: [{ agent: "a", answer: "A1" }, { agent: "b", answer: "B1" }, { agent: "a" }, { agent: "b" }], usage: { turns: 4 } });
    expect(JSON.stringify(second.asked[0]?.prompt.at(-1))).toContain("a says:\\nA1");
    expect(JSON.stringify(second.asked[1]?.prompt.at(-1))).toContain("a says:\\nA2");
  });

  test("is led by a selector until that names nobody", async () => {
    const world = await agentGate(tools);
    open.push(world);
    const order = { kind: "selector" as const, select: (turns: readonly unknown[]) => ["b", "a"][turns.length] };
    expect((await createTeam({ members: [member(world.gate, "a", ["A"]), member(world.gate, "b", ["B"])], order }).run("x")).turns.map(({ agent }) => agent)).toEqual(["b", "a"]);
  });

  test("reviews until the review approves, and answers with what was approved", async () => {
    const world = await agentGate(tools);
    open.push(world);
    const result = await createTeam({ members: [member(world.gate, "writer", ["Draft.", "Better."]), member(world.gate, "reviewer", ["Too short.", "Approved: fine."])], order: { kind: "review" } }).run("write");
    expect(result).toMatchObject({ answer: "Better.", turns: [{}, {}, {}, { agent: "reviewer" }] });
  });

  test("has one budget, and refuses members that are none", async () => {
    const world = await agentGate(tools);
    open.push(world);
    const endless = { kind: "selector" as const, select: () => "a" };
    const result = await createTeam({ members: [member(world.gate, "a", Array.from({ length: 9 }, () => "again"))], order: endless, limits: { turns: 3 } }).run("x");
    expect(result).toMatchObject({ stop: { kind: "budget", budget: "turns", limit: 3 }, turns: [{}, {}, {}] });
    expect(() => createTeam({ members: [], order: endless })).toThrow("members");
  });
});
