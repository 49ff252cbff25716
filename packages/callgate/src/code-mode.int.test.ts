import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Gate, GateEvent, Principal, RunOptions, RunResult } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate, createLazyTokenCounter, defineTool, localPrincipal, SourceReturn, ToolError } from "./index.ts";

const canary = "canary-7f3a";
const png = new Uint8Array(5 * 1024 * 1024).map((_, index) => ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a][index] ?? index % 251));
const seen = { started: 0, aborted: 0 };

const echo = defineTool({ name: "echo", description: "Gives back what it got", effect: "read", input: z.any(), handler: (args: unknown) => args });
const add = defineTool({ name: "add", description: "Adds two numbers", effect: "read", input: z.object({ a: z.number(), b: z.number() }), output: z.number(), handler: ({ a, b }) => a + b });
const slow = defineTool({ name: "slow", description: "Answers after a while", effect: "read", input: z.object({ ms: z.number(), n: z.number() }), output: z.number(), handler: async ({ ms, n }) => { await sleep(ms); return n; } });
const hang = defineTool({ name: "hang", description: "Never answers", effect: "read", timeoutMs: 60, input: z.object({}), output: z.string(), handler: () => new Promise<string>(() => {}) });
const patient = defineTool({
  name: "patient", description: "Waits until it is aborted", effect: "read", input: z.object({}), output: z.string(),
  handler: (_args, { signal }) => new Promise<string>((_resolve, reject) => {
    seen.started += 1;
    signal.addEventListener("abort", () => { seen.aborted += 1; reject(new Error("aborted")); });
  }),
});
const who = defineTool({ name: "who", description: "Who is asking", effect: "read", input: z.object({}), handler: (_args, { principal }) => ({ tenant: principal.tenant, user: principal.user }) });
const refuse = defineTool({
  name: "refuse", description: "Fails with a code", effect: "read", input: z.object({}), output: z.string(), errors: [{ code: "NOT_YOURS", description: "Belongs to someone else" }],
  handler: () => { throw new ToolError({ code: "NOT_YOURS", message: "Order 7 belongs to someone else" }); },
});
const picture = defineTool({ name: "picture", description: "A chart", effect: "read", input: z.object({}), handler: () => new SourceReturn({ taken: true }, [{ name: "chart.png", mimeType: "image/png", bytes: png }]) });
const rows = defineTool({ name: "rows", description: "Rows", effect: "read", timeoutMs: 60_000, input: z.object({ count: z.number() }), output: z.array(z.object({ id: z.number(), v: z.number() })), handler: ({ count }) => Array.from({ length: count }, (_, id) => ({ id, v: id % 10 })) });
const reserved = ["delete", "3d", "名前", "then", "constructor", "__proto__", "search"].map((name) => defineTool({ name, description: "Gives its name", effect: "read", input: z.object({}), output: z.string(), handler: () => name }));

const open = (more: Parameters<typeof createCallgate>[0] = {}): Promise<Gate> =>
  createCallgate({ stateFolder: mkdtempSync(join(tmpdir(), "callgate-")), ...more });

describe("code mode through the public gate", { timeout: 120_000 }, () => {
  let gate: Gate;
  const run = (program: string, options: RunOptions = {}): Promise<RunResult> => gate.run(program, options);
  beforeAll(async () => {
    process.env["CANARY_SECRET"] = canary;
    gate = await open({ tools: { t: [echo, add, slow, hang, patient, who, refuse, picture, rows] } });
    await run("return 0");
  });
  afterAll(async () => {
    delete process.env["CANARY_SECRET"];
    await gate.close();
  });

  test("code-mode 4: a hung tool fails at its own timeout, by name, while the run has time left", async () => {
    const { status, error, durationMs } = await run("return await tools.t.hang({})", { limits: { wallMs: 60_000 } });
    expect(status).toBe("failed");
    expect(error).toMatchObject({ code: "TOOL_TIMEOUT", tool: "t.hang" });
    expect(durationMs).toBeLessThan(30_000);
  });

  test("code-mode 5: after 100 hung runs a good one works, and memory and handles are flat", async () => {
    const hung = (count: number): Promise<RunResult[]> => Promise.all(Array.from({ length: count }, () => run("return await tools.t.hang({})")));
    await hung(50);
    const handles = process.getActiveResourcesInfo().length;
    const rss = process.memoryUsage().rss;
    const results = await hung(100);
    expect(new Set(results.map(({ error }) => error?.code))).toEqual(new Set(["TOOL_TIMEOUT"]));
    expect(await run("return await tools.t.add({ a: 1, b: 2 })")).toMatchObject({ status: "completed", value: { value: 3 } });
    expect(process.getActiveResourcesInfo().length).toBeLessThan(handles + 10);
    expect(process.memoryUsage().rss - rss).toBeLessThan(200 * 1024 * 1024);
  });

  test.each([
    ["an endless loop", "while (true) {}"],
    ["a string bomb", "let s = 'x'.repeat(1024); while (true) s += s;"],
    ["regex backtracking", "return /^(a+)+$/.test('a'.repeat(40) + 'b')"],
    ["a huge sort", "const list = Array.from({ length: 3_000_000 }, () => Math.random()); while (true) list.sort(() => Math.random() - 0.5);"],
    ["deep recursion", "const f = (n: number): number => 1 + f(n + 1); return f(0)"],
    ["an endless chain of microtasks", "const spin = (): Promise<void> => Promise.resolve().then(spin); await spin();"],
  ])("code-mode 6: %s ends, and the timers of the host go on", async (_what, program) => {
    let ticks = 0;
    const timer = setInterval(() => { ticks += 1; }, 5);
    const { status, error, durationMs } = await run(program, { limits: { cpuMs: 500, memoryMiB: 64, wallMs: 20_000 } });
    clearInterval(timer);
    expect(status, error?.message).not.toBe("completed");
    expect(error?.code).toMatch(/LIMIT|THREW|STACK|MEMORY|CPU/);
    expect(ticks).toBeGreaterThan(durationMs / 5 / 10);
    expect(await run("return 1")).toMatchObject({ status: "completed" });
  });

  test("code-mode 8: 20 parallel calls with shuffled latencies keep their identities, and replay to the same answer", async () => {
    const program = "const at = Date.now(); const dice = Math.random(); const order: number[] = []; const all = await Promise.all(Array.from({ length: 20 }, (_, n) => tools.t.slow({ ms: (n * 7) % 20, n }).then((got) => { order.push(got); return got; }))); return { at, dice, order, all, id: crypto.randomUUID() }";
    const first = await run(program);
    expect(first).toMatchObject({ status: "completed", value: { value: { all: Array.from({ length: 20 }, (_, n) => n) } } });
    expect(first.calls.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, seq) => `${first.runId}.${seq}`));
    for (let again = 0; again < 5; again += 1) expect(await gate.runs.replay(first.runId)).toMatchObject({ result: { value: { value: first.value?.kind === "whole" ? first.value.value : "no whole value" } } });
  });

  test.each<[string, string, string, unknown]>([
    ["a top-level return", "return 7", "completed", 7],
    ["a last expression without return", "const a = 3;\na + 4", "completed", 7],
    ["a fenced program in prose", "Here it is:\n```ts\nreturn 7\n```\nDone.", "completed", 7],
    ["a bare async arrow", "async () => 7", "completed", 7],
    ["a function declaration", "async function main() { return 7 }", "completed", 7],
    ["export default", "export default async function () { return 7 }", "completed", 7],
    ["an import of tools", "import { t } from 'tools';\nreturn await t.add({ a: 3, b: 4 })", "completed", 7],
    ["an import of a namespace", "import * as t from 'tools/t';\nreturn await t.add({ a: 3, b: 4 })", "completed", 7],
    ["a missing await that is a type error", "const sum: number = tools.t.add({ a: 3, b: 4 });\nreturn sum", "completed", 7],
    ["an enum", "enum E { A = 7 }\nreturn E.A", "completed", 7],
    ["a thrown object", "throw { code: 1 }", "failed", undefined],
    ["a thrown null", "throw null", "failed", undefined],
    ["an import of something else", "import fs from 'node:fs';\nreturn fs.readFileSync('/etc/passwd')", "rejected", undefined],
    ["a promise that never settles", "await new Promise(() => {});\nreturn 7", "failed", undefined],
  ])("code-mode 9: %s is never silently nothing", async (_shape, program, status, value) => {
    const result = await run(program);
    expect(result.status, JSON.stringify([result.error, result.diagnostics])).toBe(status);
    if (status === "completed") expect(result.value).toMatchObject({ kind: "whole", value });
    else expect(result.error ?? result.diagnostics[0]).toMatchObject({ code: expect.any(String) as string });
  });

  test("code-mode 10: errors keep code, tool, place and the nearest name; the canary is in none of them", async () => {
    const all = [
      await run("const a = 1;\nreturn [a, await tools.t.refuse({})]"),
      await run("return await tools.t.ad({ a: 1, b: 2 })"),
      await run("return await tools.t.add({ a: 1, c: 2 })"),
      await run("const p: any = globalThis; return p.process.env"),
    ];
    expect(all[0]?.error).toMatchObject({ code: "NOT_YOURS", tool: "t.refuse", line: 2, message: expect.stringContaining("Order 7 belongs to someone else") as string });
    expect(all[2]).toMatchObject({ status: "rejected", diagnostics: [{ line: 1 }] });
    expect(JSON.stringify([all[1]?.diagnostics, all[1]?.repairs])).toContain("add");
    expect(all[3]?.status).not.toBe("completed");
    expect(JSON.stringify(all, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value))).not.toContain(canary);
  });

  test("code-mode 12: what is listed is callable under one spelling, and a collision is refused with both names", async () => {
    const own = await open({ tools: { odd: reserved } });
    await own.ready();
    const tools = own.tools();
    expect(tools.length).toBe(reserved.length);
    for (const { name } of tools) expect(await own.run(`return await tools.${name}({})`)).toMatchObject({ status: "completed" });
    await own.close();
    const pair = ["get-user", "get_user"].map((name) => defineTool({ name, description: "A user", effect: "read", input: z.object({}), handler: () => 1 }));
    await expect(open({ tools: { crm: pair } })).rejects.toThrow(/get-user.*get_user|get_user.*get-user/s);
  });

  test.each<[string, string, unknown]>([
    ["a date", "new Date(5)", new Date(5)], ["a map", "new Map([['k', 1]])", new Map([["k", 1]])], ["a set", "new Set([1])", new Set([1])],
    ["a 19-digit integer", "9223372036854775807n", 9223372036854775807n], ["NaN", "NaN", Number.NaN], ["Infinity", "-Infinity", Number.NEGATIVE_INFINITY],
    ["undefined", "undefined", undefined], ["bytes", "new Uint8Array([1, 2])", new Uint8Array([1, 2])],
    ["out-008: minus zero, holes and null", "[-0, NaN, undefined, , null]", [-0, Number.NaN, undefined, , null]], // oxlint-disable-line no-sparse-arrays -- the hole is what is tested
    ["out-006: half a surrogate pair", "'\\ud800abc'", "\ud800abc"], ["out-007: NUL", "'a\\u0000b'", "a\0b"],
    ["out-016: a shared object", "(() => { const o = { n: 1 }; return { p: o, q: o }; })()", { p: { n: 1 }, q: { n: 1 } }],
  ])("code-mode 13: %s goes to a tool and back unchanged", async (_what, text, value) => {
    const result = await run(`const answer: any = await tools.t.echo({ v: ${text} } as any); return answer.v`);
    expect(result.status, JSON.stringify([result.error, result.diagnostics])).toBe("completed");
    expect(result.value?.kind === "whole" ? result.value.value : "no whole value").toStrictEqual(value);
  });

  test("code-mode 13: a 5 MB PNG of a tool is an artifact, its bytes intact, and no text", async () => {
    const result = await run("return await tools.t.picture({})");
    const [file] = result.artifacts;
    expect(file).toMatchObject({ name: "chart.png", mimeType: "image/png", sizeBytes: png.length });
    expect(result.tokens.result).toBeLessThan(200);
    const read = file === undefined ? undefined : await gate.read(file.handle);
    expect(read?.kind === "artifact" && Buffer.compare(read.bytes, png)).toBe(0);
  });

  test("code-mode 14: a million rows are aggregated in the program, under the budget on every channel", async () => {
    const limits = { memoryMiB: 1_024, cpuMs: 100_000, wallMs: 110_000 };
    const result = await run("const all = await tools.t.rows({ count: 1_000_000 }); console.log(all.length); let sum = 0; for (const row of all) sum += row.v; return { sum }", { limits });
    expect(result).toMatchObject({ status: "completed", value: { value: { sum: 4_500_000 } } });
    expect(result.tokens.result).toBeLessThan(100);
    const wide = await run("const all = await tools.t.rows({ count: 20_000 }); console.log(JSON.stringify(all)); text(JSON.stringify(all)); return all");
    expect(wide.tokens.result).toBeLessThanOrEqual(2_000);
    expect(wide.value).toMatchObject({ kind: "outline" });
  });

  test("code-mode 16: a program costs fewer tokens than the many direct calls it stands for, more than a small one, and both are counted truly", async () => {
    const { tokens } = await run("const all = await Promise.all(Array.from({ length: 20 }, () => tools.t.rows({ count: 50 }))); return all.flat().length");
    expect(tokens.result).toBeLessThan(tokens.direct / 20);
    // One small call costs more as a program, and the meter says that as well. Its counts are those of a tokenizer.
    const counter = await createLazyTokenCounter().load();
    const program = "return await tools.t.add({ a: 1, b: 2 })";
    const small = (await run(program)).tokens;
    expect(small).toMatchObject({ program: counter.count(program), direct: counter.count('{"a":1,"b":2}') + counter.count("3") });
    expect(small.program + small.result).toBeGreaterThan(small.direct);
  });

  test("code-mode 17: a variable of the run before is explained, with the way to its value", async () => {
    const first = await run("const org_id = 4711; return org_id");
    const second = await run("return org_id + 1");
    expect(second).toMatchObject({ status: "rejected", diagnostics: [{ message: expect.stringMatching(/each run is fresh/) as string }] });
    expect((await run(`return (await results.read("result://${first.runId}/1")) as number + 1`)).value).toMatchObject({ value: 4712 });
  });

  test("code-mode 18: every event of a run carries the run's id, and those of a call the call's id", async () => {
    const own = await open({ tools: { t: [echo] } });
    const events: GateEvent[] = [];
    const reading = (async () => { for await (const event of own.events()) events.push(event); })();
    const { runId } = await own.run("console.log(1); progress('half', 0.5); return await tools.t.echo({ n: 1 })");
    await own.close();
    await reading;
    expect(events.map((event) => [event.kind, "runId" in event ? event.runId : undefined, "callId" in event ? event.callId : undefined])).toEqual([
      ...["run-started", "run-checked", "run-printed", "run-progressed"].map((kind) => [kind, runId, undefined]),
      ...["call-requested", "call-decided", "call-started", "call-ended"].map((kind) => [kind, runId, `${runId}.0`]),
      ["run-ended", runId, undefined],
    ]);
  });

  test("code-mode 18: console, progress and text are told and recorded in the order in which the program said them", async () => {
    const said: string[] = [];
    const stop = gate.onEvent((event) => {
      if (event.kind === "run-printed") said.push(...event.entries.map(({ text }) => text));
      if (event.kind === "run-progressed") said.push(event.message);
    });
    const { runId } = await run("console.log('a'); progress('b'); console.log('c'); console.log('d'); text('e'); progress('f', 1); console.log('g'); return await tools.t.echo({ n: 1 })");
    stop();
    expect(said.join("")).toBe("abcdfg");
    const entries = (await gate.runs.show(runId))?.entries ?? [];
    expect(entries[0]?.kind).toBe("checked");
    expect(entries.flatMap((entry) => (entry.kind === "console" ? entry.entries.map(({ text }) => text) : entry.kind === "progress" ? [entry.message] : entry.kind === "text" ? [entry.text] : [])).join("")).toBe("abcdefg");
  });

  test("code-mode 20: the principal reaches every nested call, and an abort stops a fan-out", async () => {
    const ann: Principal = { ...localPrincipal, tenant: "acme", user: "ann" };
    expect((await run("return await Promise.all([tools.t.who({}), tools.t.who({})])", { principal: ann })).value).toMatchObject({ value: [0, 1].map(() => ({ tenant: "acme", user: "ann" })) });
    const controller = new AbortController();
    const running = run("const all = await Promise.all(Array.from({ length: 30 }, () => tools.t.patient({}))); return all.length", { signal: controller.signal, limits: { concurrentCalls: 8 } });
    while (seen.started < 8) await sleep(5);
    controller.abort();
    expect(await running).toMatchObject({ status: "cancelled" });
    expect(seen).toEqual({ started: 8, aborted: 8 });
  });
});
