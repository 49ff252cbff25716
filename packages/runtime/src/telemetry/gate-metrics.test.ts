import { createTypeScriptChecker } from "@callgate/check-typescript";
import { localPrincipal, ToolError } from "@callgate/contract";
import type { Journal } from "@callgate/contract";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { testPolicy } from "@callgate/testkit";
import { afterEach, expect, test } from "vitest";
import { keepingApprover } from "../approval/approvers.ts";
import { createLazyTokenCounter } from "../result/token-counter.ts";
import { createTestGate } from "../run/fixtures/test-gate.ts";
import type { TestTool } from "../run/fixtures/test-gate.ts";
import { createGateMetrics } from "./gate-metrics.ts";
import type { GateMetrics } from "./gate-metrics.ts";
import { metricDefinitions } from "./metric-definitions.ts";

type Options = Parameters<typeof createTestGate>[1];

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** For direct calls: compilers, sandboxes and token tables take long to load. */
const noPrograms = { checkers: [], drivers: [], tokenCounter: createLazyTokenCounter() };

async function gateOf(tools: readonly TestTool[], options: Options = {}) {
  const { gate } = await createTestGate(tools, { ...noPrograms, ...options });
  closers.push(() => gate.close());
  return gate;
}

/** Series of one metric, as a reader of the text would find them, without its histogram buckets. */
async function seriesOf(metrics: GateMetrics, name: string): Promise<Readonly<Record<string, number>>> {
  const family = (await metrics.values()).find((one) => one.name === name);
  const samples = (family?.samples ?? []).filter((sample) => !sample.name.endsWith("_bucket"));
  return Object.fromEntries(samples.map((sample) => [[sample.name.slice(name.length), ...Object.values(sample.labels)].filter((part) => part !== "").join(" "), sample.value]));
}

const canary = "canary-7f3a";
const echo: TestTool = { name: "echo", handler: (args) => Promise.resolve(args) };
const number: TestTool = { name: "number", input: { type: "object", properties: { of: { type: "number" } }, required: ["of"] }, output: { type: "number" }, handler: () => Promise.resolve("text") };

test("counts ends of calls by tool, outcome and principal, with how long they took", async () => {
  const failing: TestTool = { name: "failing", effect: "write", handler: () => Promise.reject(new ToolError({ code: "SECRET_WORD", message: "no" })) };
  const gate = await gateOf([echo, number, failing], { policy: testPolicy((tool) => (tool === "t.echo" ? "deny" : "allow")) });
  const metrics = await createGateMetrics(gate);
  await gate.call("t.echo", {});
  await gate.call("t.number", { of: "no number" });
  await gate.call("t.number", { of: 1 });
  await gate.call("t.failing", {}, { principal: { ...localPrincipal, user: "ann" } });
  expect(await seriesOf(metrics, "callgate_calls_total")).toEqual({ "t t.echo denied": 1, "t t.number invalid_input": 1, "t t.number invalid_output": 1, "t t.failing failed": 1 });
  expect(await seriesOf(metrics, "callgate_principal_calls_total")).toEqual({ "local local denied": 1, "local local invalid_input": 1, "local local invalid_output": 1, "local ann failed": 1 });
  expect(await seriesOf(metrics, "callgate_validation_failures_total")).toEqual({ "t t.number input": 1, "t t.number output": 1 });
  expect(await seriesOf(metrics, "callgate_denials_total")).toEqual({ "t t.echo DENIED": 1 });
  expect(await seriesOf(metrics, "callgate_decisions_total")).toEqual({ "deny test": 1, "allow test": 2 });
  expect(await seriesOf(metrics, "callgate_unknown_effects_total")).toEqual({ "t t.failing": 1 });
  expect(await seriesOf(metrics, "callgate_call_duration_seconds")).toMatchObject({ "_count t t.echo": 1, "_count t t.number": 2 });
  expect(await seriesOf(metrics, "callgate_source_ready")).toEqual({ t: 1 });
});

test("counts what limits refuse", async () => {
  const gate = await gateOf([echo], { callLimits: { rateLimits: [{ id: "echo", tools: "t.*", calls: 1, windowSeconds: 3_600, per: ["user"] }] } });
  const metrics = await createGateMetrics(gate);
  await gate.call("t.echo", { n: 1 });
  expect((await gate.call("t.echo", { n: 2 })).outcome.kind).toBe("limit_exceeded");
  expect(await seriesOf(metrics, "callgate_limit_violations_total")).toEqual({ "t t.echo LIMIT_EXCEEDED": 1 });
});

test("counts runs and checks; questions that wait are counted from the journal until they are answered", async () => {
  const gate = await gateOf([{ ...echo, effect: "write" }], { policy: testPolicy(() => "ask"), approver: keepingApprover(), checkers: [createTypeScriptChecker()], drivers: [createQuickJsDriver({ workers: 1 })] });
  const metrics = await createGateMetrics(gate, { clock: { now: () => Date.now() + 90_000 } });
  await gate.run(`throw new Error("${canary}")`);
  await gate.run("return nothingOfThatName");
  expect((await gate.run(`return await tools.t.echo({ secret: "${canary}" })`, { suspendAfterMs: 0 })).status).toBe("suspended");
  expect(await seriesOf(metrics, "callgate_checks_total")).toEqual({ ok: 2, rejected: 1 });
  expect(await seriesOf(metrics, "callgate_runs_total")).toEqual({ failed: 1, rejected: 1 });
  expect(await seriesOf(metrics, "callgate_approvals_waiting")).toEqual({ "": 1 });
  expect((await seriesOf(metrics, "callgate_approvals_oldest_seconds"))[""]).toBeGreaterThanOrEqual(90);
  expect(await seriesOf(metrics, "callgate_approvals_asked_total")).toEqual({ "t t.echo": 1 });
  expect(await metrics.text()).not.toContain(canary);
  const [open] = await gate.approvals.list();
  await gate.approvals.answer(open?.question.approvalId ?? "", { approved: false, by: "boss" });
  expect(await seriesOf(metrics, "callgate_approvals_waiting")).toEqual({ "": 0 });
});

test("a journal that cannot be read costs only what comes from it", async () => {
  const gate = await gateOf([echo], { wrapJournal: (journal): Journal => ({ ...journal, listRuns: () => Promise.reject(new Error("gone")) }) });
  const metrics = await createGateMetrics(gate);
  await gate.call("t.echo", {});
  expect(await seriesOf(metrics, "callgate_approvals_waiting")).toEqual({ "": Number.NaN });
  expect(await seriesOf(metrics, "callgate_calls_total")).toEqual({ "t t.echo ok": 1 });
});

test("no value of an argument, result or error is in any metric, and neither is a name that a model made up", async () => {
  const gate = await gateOf([echo, { name: "throws", handler: () => Promise.reject(new ToolError({ code: "CANARY_7F3A", message: canary })) }]);
  const metrics = await createGateMetrics(gate);
  await gate.call("t.echo", { secret: canary });
  await gate.call("t.throws", { secret: canary });
  await gate.call(`t.${canary}`, {});
  await gate.call(`${canary}.echo`, {});
  const text = await metrics.text();
  expect(text.toLowerCase().replaceAll("_", "-")).not.toContain(canary);
  expect(text).toContain('callgate_calls_total{source="unknown",tool="unknown",outcome="failed"} 2');
});

test("what is beyond the bounds counts as other", async () => {
  const gate = await gateOf(["a", "b", "c"].map((name) => ({ ...echo, name })));
  const metrics = await createGateMetrics(gate, { maxTools: 1, maxPrincipals: 1 });
  for (const name of ["a", "b", "c"]) await gate.call(`t.${name}`, {}, { principal: { ...localPrincipal, user: name } });
  expect(await seriesOf(metrics, "callgate_calls_total")).toEqual({ "t t.a ok": 1, "t other ok": 2 });
  expect(await seriesOf(metrics, "callgate_principal_calls_total")).toEqual({ "local a ok": 1, "other other ok": 2 });
  await expect(createGateMetrics(gate, { maxTools: -1 })).rejects.toThrow(expect.objectContaining({ code: "USAGE" }) as Error);
});

test("the text is that of Prometheus, and stays after close without counting on", async () => {
  const gate = await gateOf([echo]);
  const metrics = await createGateMetrics(gate);
  await gate.call("t.echo", {});
  metrics.close();
  await gate.call("t.echo", {});
  const text = await metrics.text();
  expect(metrics.contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(text).toContain('# TYPE callgate_calls_total counter\ncallgate_calls_total{source="t",tool="t.echo",outcome="ok"} 1\n');
  expect(text).toContain('callgate_call_duration_seconds_bucket{le="+Inf",source="t",tool="t.echo"} 1');
});

test("names and labels are as they were", () => {
  expect(Object.entries(metricDefinitions).map(([name, { labels }]) => `${name}{${labels.join(",")}}`)).toEqual([
    "callgate_calls_total{source,tool,outcome}",
    "callgate_call_duration_seconds{source,tool}",
    "callgate_principal_calls_total{tenant,user,outcome}",
    "callgate_retries_total{source,tool}",
    "callgate_decisions_total{decision,rule}",
    "callgate_denials_total{source,tool,code}",
    "callgate_limit_violations_total{source,tool,code}",
    "callgate_validation_failures_total{source,tool,side}",
    "callgate_unknown_effects_total{source,tool}",
    "callgate_approvals_asked_total{source,tool}",
    "callgate_grants_used_total{source,tool}",
    "callgate_approvals_answered_total{answer}",
    "callgate_approvals_waiting{}",
    "callgate_approvals_oldest_seconds{}",
    "callgate_runs_total{status}",
    "callgate_run_duration_seconds{}",
    "callgate_checks_total{result}",
    "callgate_source_ready{source}",
    "callgate_circuit_open{source}",
  ]);
});
