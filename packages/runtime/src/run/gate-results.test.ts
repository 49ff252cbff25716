import { CallgateError, SourceReturn } from "@callgate/contract";
import type { Handle, Journal } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runReport } from "../result/report.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate, TestTool } from "./fixtures/test-gate.ts";

const png = new Uint8Array(5 * 1024 * 1024).map((_, index) => (index < 8 ? ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a][index] ?? 0) : index % 251));

const tools: readonly TestTool[] = [
  { name: "echo", handler: (args) => args },
  { name: "picture", handler: () => new SourceReturn({ taken: true }, [{ name: "chart.png", mimeType: "image/png", bytes: png }]) },
  { name: "attached", handler: async (_args, context) => { await context.attach({ name: "report.pdf", mimeType: "application/pdf", bytes: png.subarray(0, 100) }); return "see the report"; } },
  { name: "rows", timeoutMs: 60_000, handler: (args) => Array.from({ length: (args as { count: number }).count }, (_, id) => ({ id, v: id % 10 })) },
  { name: "summed", handler: () => Array.from({ length: 10_000 }, (_, id) => ({ id })), summarize: (output) => ({ count: (output as unknown[]).length, note: "ids only" }) },
  { name: "badly_summed", handler: () => Array.from({ length: 10_000 }, (_, id) => ({ id })), summarize: () => { throw new Error("no"); } },
  { name: "wordily_summed", handler: () => Array.from({ length: 10_000 }, (_, id) => ({ id })), summarize: () => Array.from({ length: 5_000 }, (_, id) => `word ${id}`) },
  { name: "wordy_failure", handler: () => { throw new Error("it went wrong because ".repeat(5_000)); } },
  { name: "write", effect: "write", handler: () => "written" },
];

describe("results of a gate", () => {
  let t: TestGate;
  beforeAll(async () => {
    t = await createTestGate(tools);
    await t.gate.run("return 0");
  });
  afterAll(async () => {
    await t.gate.close();
  });

  test("code-mode 13: a picture of 5 MB reaches the caller as a file, from programs and direct calls, never as text", async () => {
    const result = await t.gate.run("return await tools.t.picture({})");
    expect(result).toMatchObject({ status: "completed", value: { value: { taken: true } }, artifacts: [{ name: "chart.png", mimeType: "image/png", sizeBytes: png.length }] });
    expect(result.tokens.result).toBeLessThan(200);
    const read = await t.gate.read(result.artifacts[0]?.handle ?? ("" as Handle));
    expect(read).toMatchObject({ kind: "artifact", name: "chart.png", mimeType: "image/png" });
    expect(read.kind === "artifact" && Buffer.compare(read.bytes, png)).toBe(0);
    const direct = await t.gate.call("t.attached", {});
    expect(direct).toMatchObject({ outcome: { kind: "ok", value: "see the report" }, artifacts: [{ name: "report.pdf", sizeBytes: 100 }] });
    const inGuest = await t.gate.run(`const file: any = await results.read("${direct.artifacts[0]?.handle ?? ""}"); return [file.name, file.bytes.length]`);
    expect(inGuest.value).toMatchObject({ value: ["report.pdf", 100] });
  });

  test("http-008: a file is read by its handle, which is no path", async () => {
    const { artifacts } = await t.gate.run("return await tools.t.picture({})");
    const handle = artifacts[0]?.handle ?? "";
    for (const other of ["result://../../etc/passwd", "result://..%2f..%2fetc%2fpasswd/1", "/etc/passwd", "file:///etc/passwd", `${handle}/../../master.key`, `${handle}\0`, `${handle}%00`, handle.replace("://", ":///"), `result://${"a".repeat(10_000)}/1`])
      expect(await t.gate.read(other as Handle)).toMatchObject({ kind: "error", error: { code: "HANDLE_NOT_FOUND" } });
    expect(await t.gate.read(handle as Handle)).toMatchObject({ kind: "artifact" });
  });

  test("code-mode 13: exact large integers and every other kind of value come back as they are", async () => {
    const program = "return await tools.t.echo({ big: 9223372036854775807n, at: new Date(5), none: undefined, nan: NaN, m: new Map([['k', new Set([1])]]), bytes: new Uint8Array([1, 2, 3]) })";
    const { value } = await t.gate.run(program);
    expect(value).toMatchObject({ kind: "whole", value: { big: 9223372036854775807n, at: new Date(5), nan: Number.NaN, m: new Map([["k", new Set([1])]]), bytes: new Uint8Array([1, 2, 3]) } });
  });

  test("code-mode 14: a million rows are aggregated in the program, and the model reads a hundred tokens", async () => {
    const program = "const rows = (await tools.t.rows({ count: 1_000_000 })) as { v: number }[]; console.log(rows.length); let sum = 0; for (const row of rows) sum += row.v; return { sum }";
    const result = await t.gate.run(program, { limits: { memoryMiB: 1_024, cpuMs: 100_000, wallMs: 200_000 } });
    expect(result).toMatchObject({ status: "completed", value: { value: { sum: 4_500_000 } } });
    expect(result.tokens.result).toBeLessThan(100);
    expect(result.tokens.direct).toBeGreaterThan(1_000_000);
  }, 240_000);

  test("code-mode 14: what is too large to return is an outline within the budget on every channel, and its parts are one handle away", async () => {
    const result = await t.gate.run("const rows = await tools.t.rows({ count: 20_000 }); console.log(JSON.stringify(rows)); text(JSON.stringify(rows)); return rows", { limits: { consoleBytes: 2_000_000 } });
    expect(result.value).toMatchObject({ kind: "outline", outline: { type: "array", length: 20_000, columns: { id: { type: "integer", min: 0, max: 19_999 } } } });
    expect(result.tokens.result).toBeLessThanOrEqual(2_000);
    expect(runReport(result).length).toBeLessThan(12_000);
    const handle = result.value?.handle ?? ("" as Handle);
    expect(await t.gate.read(handle, { path: "/19999" })).toEqual({ kind: "value", value: { id: 19_999, v: 9 } });
    const textHandle = /whole: (result:\S+)/.exec(result.text.join("\n"))?.[1] as Handle;
    expect(await t.gate.read(textHandle, { offset: 0, limit: 20 })).toMatchObject({ kind: "value", value: '[{"id":0,"v":0},{"id' });
  });

  test("code-mode 14: a result over the limit of a call fails with the name of the limit and the way out", async () => {
    const result = await t.gate.run("return await tools.t.rows({ count: 10_000 })", { limits: { callResultBytes: 10_000 } });
    expect(result).toMatchObject({ status: "failed", error: { code: "LIMIT_EXCEEDED", tool: "t.rows", details: { limit: "callResultBytes" } } });
  });

  test("a tool's summary stands in for a large output of a direct call, is budgeted itself, and a bad one is no harm", async () => {
    expect((await t.gate.call("t.summed", {})).shaped).toMatchObject({ kind: "outline", outline: { count: 10_000, note: "ids only" } });
    expect((await t.gate.call("t.badly_summed", {})).shaped).toMatchObject({ kind: "outline", outline: { type: "array", length: 10_000 } });
    const wordy = await t.gate.call("t.wordily_summed", {}, { budgetTokens: 300 });
    expect(wordy.shaped).toMatchObject({ kind: "outline", outline: { type: "array", length: 5_000 } });
    const { run } = (await t.gate.runs.show(wordy.runId)) ?? {};
    expect(run?.tokens?.result).toBeLessThanOrEqual(300);
  });

  test("a wordy error of a direct call is cut to the budget", async () => {
    const { outcome } = await t.gate.call("t.wordy_failure", {}, { budgetTokens: 150 });
    expect(outcome.kind).toBe("failed");
    expect(outcome.kind !== "ok" && outcome.error.message.length).toBeLessThan(1_200);
  });

  test("the meter: what was read against what direct calls would have cost", async () => {
    const { tokens } = await t.gate.run("const rows = (await tools.t.rows({ count: 300 })) as unknown[]; return rows.length");
    const direct = await t.gate.call("t.rows", { count: 300 }, { budgetTokens: 100_000 });
    const { run } = (await t.gate.runs.show(direct.runId)) ?? {};
    expect(tokens.direct).toBeGreaterThan((run?.tokens?.result ?? 0) * 0.9);
    expect(tokens.direct).toBeLessThan((run?.tokens?.result ?? 0) * 1.2);
    expect(tokens.result).toBeLessThan(60);
    expect(tokens.program).toBeGreaterThan(10);
  });

  test("P18: what a tool calls sensitive stands in no summary of the record: not of a call, nor of a value, nor of a replay", async () => {
    const [card, receipt] = ["4111-1111-2222", "receipt-of-4711"];
    const own = await createTestGate([{ name: "pay", sensitive: ["/input/card", "/output/receipt"], handler: () => ({ receipt, note: "ok" }) }]);
    const direct = await own.gate.call("t.pay", { card });
    expect(direct.outcome).toMatchObject({ kind: "ok", value: { receipt } });
    const run = await own.gate.run(`const paid: any = await tools.t.pay({ card: "${card}" }); return { text: "paid with ${card}: " + paid.receipt, paid }`);
    expect(run.value).toMatchObject({ value: { paid: { receipt } } });
    const replayed = await own.gate.runs.replay(run.runId);
    expect(replayed.divergence).toBeUndefined();
    const hashes = new Set<string>();
    for (const runId of [direct.runId, run.runId, replayed.result.runId]) {
      const kept = (await own.gate.runs.show(runId))?.entries.find((entry) => entry.kind === "result");
      const summary = JSON.stringify(kept?.value.summary);
      expect(summary).toContain("note");
      expect(summary).not.toContain(card);
      expect(summary).not.toContain(receipt);
      for (const [hash] of summary.matchAll(/"receipt":"(hash:\w+)"/g)) hashes.add(hash);
    }
    // Equal stays comparable.
    expect(hashes.size).toBe(1);
    await own.gate.close();
  });

  test("a budget below the least is a wrong use", async () => {
    await expect(t.gate.run("return 1", { budgetTokens: 20 })).rejects.toMatchObject({ code: "USAGE" });
  });

  test("when the journal goes away in the middle, reads go on and it is said, writes are refused", async () => {
    let broken = false;
    const failing = (journal: Journal): Journal => ({
      ...journal,
      append: (...args) => (broken ? Promise.reject(new CallgateError("JOURNAL_UNAVAILABLE", "The disk is full")) : journal.append(...args)),
      finish: (...args) => (broken ? Promise.reject(new CallgateError("JOURNAL_UNAVAILABLE", "The disk is full")) : journal.finish(...args)),
    });
    const own = await createTestGate([...tools, { name: "break_it", handler: () => { broken = true; return true; } }], { wrapJournal: failing });
    const result = await own.gate.run("const a = await tools.t.break_it({}); const b = await tools.t.echo({ b: 1 }); try { const c = await tools.t.write({}); return c } catch (error: any) { return { a, b, code: error.code, message: error.message } }");
    expect(result).toMatchObject({ status: "completed", value: { value: { a: true, b: { b: 1 }, code: "JOURNAL_UNAVAILABLE", message: expect.stringContaining("was not called") as string } } });
    expect(result.notices.join()).toContain("journal");
    expect(own.events.some(({ kind }) => kind === "journal-degraded")).toBe(true);
    broken = false;
    await own.gate.close();
  });
});

test("a gate that is warmed has its checker loaded before the first program, and closes in the middle of it", async () => {
  const warmed: number[] = [];
  const checker = { language: "typescript" as const, check: () => Promise.reject(new Error("not asked")), warm: (namespaces: readonly unknown[]) => { warmed.push(namespaces.length); return Promise.resolve(); }, close: () => Promise.resolve() };
  const own = await createTestGate(tools, { warm: true, checkers: [checker] });
  await own.gate.ready();
  await own.gate.close();
  expect(warmed).toEqual([1]);
});
