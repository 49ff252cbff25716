import { context, propagation, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { ToolError } from "@callgate/contract";
import type { Gate, TraceContext } from "@callgate/contract";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { durableWorld } from "../run/fixtures/durable-world.ts";
import { isTraced } from "./is-traced.ts";
import { createOtelTracing, serveTraced } from "./otel-tracing.ts";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
let wasTraced: boolean;
beforeAll(() => {
  wasTraced = isTraced();
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterAll(() => {
  // Files share a process: an SDK of this test is none of the next one's.
  trace.disable();
  context.disable();
  propagation.disable();
});

const worlds: ReturnType<typeof durableWorld>[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
  exporter.reset();
});

const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
const named = (name: string): readonly ReadableSpan[] => spans().filter((span) => span.name === name);

function world() {
  const sent: (TraceContext | undefined)[] = [];
  const made = durableWorld([
    { name: "find", handler: (_args, { trace: at }) => { sent.push(at); trace.getTracer("host").startSpan("select").end(); return { mail: "CANARY" }; } },
    { name: "ask_pay", effect: "write", handler: () => ({ ok: true }) },
    { name: "fail", handler: () => { throw new ToolError({ code: "NO_SUCH", message: "CANARY is not there" }); } },
  ]);
  worlds.push(made);
  return { ...made, sent, open: async (): Promise<Gate> => await made.open({ tracing: createOtelTracing() }) };
}

test("an SDK is seen once it is registered", () => expect([wasTraced, isTraced()]).toEqual([false, true]));

test("a run is a span of whoever asked for it, each of its calls one below it, and what a tool does one below that", async () => {
  const { open, sent } = world();
  const gate = await open();
  const outer = trace.getTracer("host").startSpan("agent turn");
  const run = await context.with(trace.setSpan(context.active(), outer), () => gate.run("await tools.t.find({ secret: 'CANARY' }); try { await tools.t.fail({}) } catch {} return 1"));
  outer.end();
  const [[of], [find], [fail], [select]] = [named("callgate.run"), named("execute_tool t.find"), named("execute_tool t.fail"), named("select")];
  expect([of?.parentSpanContext?.spanId, find?.parentSpanContext?.spanId, select?.parentSpanContext?.spanId]).toEqual([outer.spanContext().spanId, of?.spanContext().spanId, find?.spanContext().spanId]);
  expect(of?.attributes).toEqual({ "callgate.tenant": "local", "user.id": "local", "callgate.run.id": run.runId, "callgate.run.kind": "program", "callgate.run.status": "completed" });
  expect(find?.attributes).toEqual({
    "callgate.tenant": "local", "user.id": "local", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function", "gen_ai.tool.name": "t.find", "gen_ai.tool.call.id": `${run.runId}.0`,
    "callgate.run.id": run.runId, "callgate.effect": "read", "callgate.decision": "allow", "callgate.rule.id": "test", "callgate.outcome": "ok", "callgate.effect_status": "none",
  });
  expect([fail?.status.code, fail?.attributes["error.type"], find?.status.code]).toEqual([SpanStatusCode.ERROR, "NO_SUCH", SpanStatusCode.UNSET]);
  expect(sent[0]?.traceparent).toBe(`00-${outer.spanContext().traceId}-${find?.spanContext().spanId ?? ""}-01`);
  expect(JSON.stringify(spans().map(({ attributes, events, status }) => [attributes, events, status]))).not.toContain("CANARY");
});

test("a run that goes on elsewhere is a second span of the same trace, and no span of the first is left open", async () => {
  const { open } = world();
  const first = await open();
  const outer = trace.getTracer("host").startSpan("agent turn");
  const waiting = await context.with(trace.setSpan(context.active(), outer), () => first.run("return await tools.t.ask_pay({})"));
  outer.end();
  expect(named("callgate.run").map(({ attributes }) => attributes["callgate.run.status"])).toEqual(["suspended"]);
  expect(named("execute_tool t.ask_pay").map(({ events }) => events.map(({ name }) => name))).toEqual([["callgate.approval.asked"]]);
  await first.close();
  const second = await open();
  await second.approvals.answer((await second.approvals.list())[0]?.question.approvalId ?? "", { approved: true, by: "ann" });
  expect(await second.runs.resume(waiting.runId)).toMatchObject({ status: "completed" });
  const runs = named("callgate.run");
  expect(runs.map((span) => [span.spanContext().traceId, span.parentSpanContext?.spanId])).toEqual([[outer.spanContext().traceId, outer.spanContext().spanId], [outer.spanContext().traceId, outer.spanContext().spanId]]);
  expect(named("execute_tool t.ask_pay").at(-1)?.attributes).toMatchObject({ "callgate.outcome": "ok", "callgate.effect_status": "done" });
});

test("a request is a span below what its client sent along", async () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const { open } = world();
  const gate = await open();
  await serveTraced({ method: "tools/call", target: "execute_code", meta: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } }, () => gate.run("return 1"));
  await expect(serveTraced({ method: "tools/call", target: "call_tool", meta: { traceparent: "garbage" } }, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  const [request, failed] = [named("tools/call execute_code")[0], named("tools/call call_tool")[0]];
  expect([request?.spanContext().traceId, request?.parentSpanContext?.spanId, request?.attributes["mcp.method.name"]]).toEqual([traceId, "00f067aa0ba902b7", "tools/call"]);
  expect(named("callgate.run")[0]?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  expect([failed?.status.code, failed?.parentSpanContext]).toEqual([SpanStatusCode.ERROR, undefined]);
});
