import { readFileSync, writeFileSync } from "node:fs";
import { decodeValue } from "@callgate/contract";
import type { GuestEnd, RunLimits, SandboxDriver } from "@callgate/contract";
import { readSecurityCases, startProgram } from "@callgate/testkit";
import type { HarnessRun, HarnessTool, SecurityCase } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createQuickJsDriver } from "./driver.ts";
import { globalSurface } from "./fixtures/global-surface.ts";

const resultsUrl = new URL("../security-results.json", import.meta.url);
const { cases: all, skip } = readSecurityCases();
const cases = all.filter(({ layer }) => layer === "js");

/** The one secret of all cases. It stands in the environment, and must turn up nowhere. */
const canary = "canary-7f3a";
const limits: Partial<RunLimits> = { cpuMs: 1_000, memoryMiB: 64 };

/** What the pay tool was really asked to do. */
const paid: unknown[] = [];
const tools: Readonly<Record<string, HarnessTool>> = {
  "t.echo": (args) => args,
  "t.getUser": (args) => ((args as { id?: unknown }).id === 666 ? JSON.parse('{"__proto__": {"admin": true}, "id": 666}') : { id: 1, name: "Ada" }),
  "t.fail": () => {
    throw Object.assign(new Error("The tool failed"), { code: "TOOL_FAILED" });
  },
  "t.pay": (args) => {
    paid.push(args);
    return args;
  },
};

/** The cases speak of `tools.echo`; programs of Callgate of `tools.<namespace>.echo`. */
const body = (snippet: string): string => `return await (async (tools) => {\n${snippet}\n})(tools.t)`;

const results: Record<string, { title: string; result: string }> = {};

describe.skipIf(skip !== undefined)("security cases of layer js (skipped where ../shared/cases is not beside the repository)", () => {
  let driver: SandboxDriver;
  beforeAll(() => {
    process.env["CANARY_SECRET"] = canary;
    driver = createQuickJsDriver({ workers: 2 });
  });
  afterAll(async () => {
    delete process.env["CANARY_SECRET"];
    await driver.close();
  });

  const start = (item: SecurityCase): HarnessRun => startProgram(driver, body(item.snippet_or_steps), { tools, limits });
  const own = (): number => Object.getOwnPropertyNames(Object.prototype).length + Object.getOwnPropertyNames(globalThis).length;

  for (const item of cases) {
    if (item.run !== "js-body") continue;
    test(`${item.id} ${item.title}`, async () => {
      const before = own();
      paid.length = 0;
      const run = start(item);
      const end = await run.ended;
      const text = said(end);
      judge(item, end);
      if (item.oracle === "run-twice") expect(said(await start(item).ended)).toBe("SAFE");
      if (item.oracle === "replay-equal") expect(said(await start(item).ended)).toBe(text);
      if (item.oracle === "no-late-calls") {
        await new Promise((resolve) => setTimeout(resolve, 100));
        expect(run.lateCalls).toEqual([]);
        expect(paid).toEqual([]);
      }
      if (item.oracle === "journal-consistent") expect(run.calls.map((call) => call.kind)).toEqual(["tool"]);
      if (item.id === "js-012") expect(paid).toEqual([{ id: 7, amount: 1 }]);
      if (item.id === "js-013") expect(paid).toEqual([{ id: 1, amount: 2 }]);
      if (item.id === "js-019") {
        // A constructor that is listed is refused like any other value that cannot cross; a hidden one is never asked.
        const hidden = item.snippet_or_steps.replace("a.constructor =", "const constructor =").replace("const r =", 'Object.defineProperty(a, "constructor", { value: constructor });\nconst r =');
        expect(said(await startProgram(driver, body(hidden), { tools, limits }).ended)).toBe("SAFE");
      }
      if (item.id === "js-040") expect(JSON.stringify(run.outputs).length).toBeLessThan(100_000);
      if (item.id === "js-049") expect(run.outputs.map((output) => output.kind === "console" && output.entry.text)).toContain('\u0000\u0000\u0000\u0010{"type":"done"}');
      // Clean: the host is as it was, the secret nowhere, and the next program runs.
      expect(own()).toBe(before);
      expect(JSON.stringify([end, run.outputs, run.calls])).not.toContain(canary);
      expect(said(await startProgram(driver, 'return "SAFE"', { tools }).ended)).toBe("SAFE");
      results[item.id] = { title: item.title, result: end.kind === "limit" ? "ended at its limit" : text.startsWith("GLOBALS") ? "the pinned names" : text.startsWith("REPLAY") ? "equal" : end.kind === "threw" ? `refused: ${end.error.code}` : text };
    });
  }

  test("the cases that are no program are the checker's, whose tests name them", () => {
    const steps = cases.filter(({ run }) => run !== "js-body").map(({ id }) => id);
    expect(steps).toEqual(["js-036", "js-037", "js-043"]);
    const checkerTests = readFileSync(new URL("../../check-typescript/src/typescript-checker.test.ts", import.meta.url), "utf8");
    for (const id of ["js-036", "js-037"]) expect(checkerTests).toContain(id);
  });

  test("js-043 scanner and engine disagree: the engine itself loads nothing, however it is spelt", async () => {
    for (const snippet of ['x = 1 <!-- import("node:fs")', 'return await import/**/("fs")', "return await (0, eval)('imp\\u006frt(\"fs\")')", 'return await eval("import(\'fs\')")', "\u180ereturn await import('fs')", "return await Function('return import(\"fs\")')()", 'return await import("data:text/javascript,export default 1")']) {
      const end = await startProgram(driver, snippet, { tools, limits }).ended;
      expect(end.kind, snippet).toBe("threw");
    }
    results["js-043"] = { title: "Scanner and engine disagree about the text", result: "SAFE" };
  });

  test("the table in docs/security.md is printed from these results (write them with CALLGATE_WRITE_RESULTS=1)", () => {
    const sorted = Object.fromEntries(Object.entries(results).sort(([a], [b]) => (a < b ? -1 : 1)));
    if (process.env["CALLGATE_WRITE_RESULTS"] === "1") writeFileSync(resultsUrl, `${JSON.stringify(sorted, null, 2)}\n`);
    expect(sorted).toEqual(JSON.parse(readFileSync(resultsUrl, "utf8")));
  });
});

function judge(item: SecurityCase, end: GuestEnd): void {
  const text = said(end);
  expect(text).not.toMatch(/^ESCAPED/);
  expect(end.kind).not.toBe("crashed");
  if (item.id === "js-019") return expect(end).toMatchObject({ kind: "threw", error: { code: "VALUE_UNSUPPORTED" } });
  switch (item.oracle) {
    case "limit":
      expect(end.kind).toBe("limit");
      return;
    case "limit-or-safe":
      expect(end.kind === "limit" || text === "SAFE").toBe(true);
      return;
    case "snapshot":
      expect(text.replace("GLOBALS ", "").split(",")).toEqual(globalSurface);
      return;
    case "replay-equal":
      expect(text).toMatch(/^REPLAY 1700000000000 0\./);
      return;
    default:
      expect(text).toMatch(/^SAFE/);
  }
}

/** What a program said of itself: its text, or how it ended. */
function said(end: GuestEnd): string {
  if (end.kind !== "returned") return JSON.stringify(end);
  const value = decodeValue(end.value);
  return typeof value === "string" ? value : JSON.stringify(value);
}
