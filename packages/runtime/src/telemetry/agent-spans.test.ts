import { setTimeout as sleep } from "node:timers/promises";
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { agentTool } from "../../../agent/src/agent-tool.ts";
import type { Agent } from "../../../agent/src/agent.ts";
import { createAgent } from "../../../agent/src/create-agent.ts";
import { agentGate } from "../../../agent/src/fixtures/agent-gate.ts";
import { scriptedModel } from "../../../agent/src/model/scripted-model.ts";
import type { ScriptedTurn } from "../../../agent/src/model/scripted-model.ts";
import { defineTool } from "../source/define-tool.ts";
import { createOtelTracing } from "./otel-tracing.ts";

// Here and not beside the agent: the API of OpenTelemetry that this package brings is the one that makes the spans.
const exporter = new InMemorySpanExporter();
beforeAll(() => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  // Files share a process: an SDK of this test is none of the next one's.
  trace.disable();
  context.disable();
});
afterEach(() => exporter.reset());

const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
const named = (name: string): ReadableSpan | undefined => spans().find((span) => span.name === name);
const runOf = (kind: string): ReadableSpan | undefined => spans().find((span) => span.attributes["callgate.run.kind"] === kind);
const parentOf = (span: ReadableSpan | undefined): string | undefined => span?.parentSpanContext?.spanId;

async function traced(turns: readonly ScriptedTurn[], signal?: AbortSignal): Promise<string> {
  let wait: (() => void) | undefined;
  await using world = await agentGate({ t: [
    defineTool({ name: "find", description: "Finds.", effect: "read", input: true, handler: () => ({ mail: "CANARY" }) }),
    defineTool({ name: "fail", description: "Fails.", effect: "read", input: true, handler: () => { throw new Error("CANARY is not there"); } }),
    defineTool({ name: "hang", description: "Hangs.", effect: "write", input: true, handler: async (_args, { signal: over }) => { wait?.(); await sleep(60_000, undefined, { signal: over }); } }),
  ] }, { tracing: createOtelTracing() });
  const begun = new Promise<void>((resolve) => (wait = resolve));
  const stopping = new AbortController();
  const running = createAgent({ name: "clerk", model: scriptedModel(turns), gate: world.gate, mode: "code" }).run("CANARY task", { signal: stopping.signal });
  if (signal !== undefined) {
    await begun;
    stopping.abort();
  }
  return (await running).runId;
}

const code = (text: string): ScriptedTurn => ({ calls: [{ tool: "execute_code", input: { code: text } }] });

test("agent-and-executor 69: the agent is a span, each of its blocks of code one below it, each call of a tool one below that; with codes and durations, and without anything that was said", async () => {
  const runId = await traced([code("await tools.t.find({ secret: 'CANARY' }); await tools.t.fail({}); return 1"), code("return 'CANARY'"), "done"]);
  const [agent, find, fail] = [runOf("agent"), named("execute_tool t.find"), named("execute_tool t.fail")];
  const blocks = spans().filter((span) => span.attributes["callgate.run.kind"] === "program");
  expect(agent?.attributes).toMatchObject({ "callgate.run.id": runId, "callgate.run.status": "completed" });
  expect(blocks.map((span) => [parentOf(span), span.attributes["callgate.run.status"], span.status.code])).toEqual([
    [agent?.spanContext().spanId, "failed", SpanStatusCode.ERROR],
    [agent?.spanContext().spanId, "completed", SpanStatusCode.UNSET],
  ]);
  expect([parentOf(find), parentOf(fail)]).toEqual([blocks[0]?.spanContext().spanId, blocks[0]?.spanContext().spanId]);
  expect([find?.attributes["callgate.outcome"], fail?.attributes["callgate.outcome"], fail?.attributes["error.type"], fail?.status.code]).toEqual(["ok", "failed", "TOOL_FAILED", SpanStatusCode.ERROR]);
  for (const span of spans()) expect(span.duration[0] * 1e9 + span.duration[1]).toBeGreaterThanOrEqual(0);
  expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1);
  expect(JSON.stringify(spans().map(({ name, attributes, events, status }) => [name, attributes, events, status]))).not.toContain("CANARY");
});

test("an agent that another one calls is a span of the same trace, below the call", async () => {
  const made: { helper?: Agent } = {};
  const ask = agentTool(() => {
    if (made.helper === undefined) throw new Error("not there yet");
    return made.helper;
  }, { name: "ask", description: "Asks the helper.", effect: "read" });
  await using world = await agentGate({ agents: [ask], t: [defineTool({ name: "find", description: "Finds.", effect: "read", input: true, handler: () => 7 })] }, { tracing: createOtelTracing() });
  made.helper = createAgent({ name: "helper", model: scriptedModel([{ calls: [{ tool: "t.find" }] }, "It is 7."]), gate: world.gate, mode: "tools" });
  await createAgent({ name: "boss", model: scriptedModel([code("return await tools.agents.ask({ task: 'find it' })"), "7."]), gate: world.gate, mode: "code" }).run("find");
  const [call, find] = [named("execute_tool agents.ask"), named("execute_tool t.find")];
  const agents = spans().filter((span) => span.attributes["callgate.run.kind"] === "agent");
  const helper = agents.find((span) => parentOf(span) === call?.spanContext().spanId);
  expect(agents).toHaveLength(2);
  expect(helper).toBeDefined();
  const around = spans().find((span) => span.spanContext().spanId === parentOf(find));
  expect(parentOf(around)).toBe(helper?.spanContext().spanId);
  expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1);
});

test("agent-and-executor 69: a cancel is on the spans of what it cancelled, and none is left open", async () => {
  await traced([code("return await tools.t.hang({})"), "done"], new AbortController().signal);
  expect(named("execute_tool t.hang")?.attributes).toMatchObject({ "callgate.outcome": "cancelled", "callgate.effect_status": "unknown", "error.type": "CANCELLED" });
  expect(runOf("program")?.attributes["callgate.run.status"]).toBe("cancelled");
  expect(runOf("agent")?.attributes["callgate.run.status"]).toBe("cancelled");
});
