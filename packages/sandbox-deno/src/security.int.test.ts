import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeValue } from "@callgate/contract";
import type { GuestEnd, SandboxDriver } from "@callgate/contract";
import { isWholeRun, readSecurityCases, startProgram } from "@callgate/testkit";
import type { HarnessTool } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runPython } from "./fixtures/run-python.ts";
import { createDenoDriver, createPyodideDriver, createPyodideLauncher } from "./index.ts";

const { cases: all, skip } = readSecurityCases();
const canary = "canary-7f3a";

/** The name table is QuickJS's own: V8 has other names, which hostile.int.test.ts looks at. */
const javascript = all.filter(({ layer, run, oracle }) => layer === "js" && run === "js-body" && oracle !== "snapshot");
/** Each start of Pyodide takes seconds, and no launcher of the system is this one's: every run tries each fifth case of Python, whole runs all. */
const python = all.filter(({ layer, run }) => layer === "python" && run !== null).filter((_case, index) => isWholeRun || index % 5 === 0);

const tools: Readonly<Record<string, HarnessTool>> = {
  "t.echo": (args) => args,
  "t.getUser": (args) => ((args as { id?: unknown }).id === 666 ? JSON.parse('{"__proto__": {"admin": true}, "id": 666}') : { id: 1, name: "Ada" }),
  "t.fail": () => {
    throw Object.assign(new Error("The tool failed"), { code: "TOOL_FAILED" });
  },
  "t.pay": (args) => args,
};

function said(end: GuestEnd): string {
  if (end.kind !== "returned") return JSON.stringify(end);
  const value = decodeValue(end.value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

describe.skipIf(skip !== undefined)("security cases in Deno (skipped where ../shared/cases is not beside the repository)", () => {
  const cacheFolder = mkdtempSync(join(tmpdir(), "callgate-pyodide-"));
  let deno: SandboxDriver;
  let pyodide: SandboxDriver;
  beforeAll(async () => {
    process.env["CANARY_SECRET"] = canary;
    deno = createDenoDriver();
    await createPyodideLauncher({ cacheFolder }).probe();
    pyodide = createPyodideDriver({ cacheFolder });
  }, 180_000);
  afterAll(async () => {
    delete process.env["CANARY_SECRET"];
    await Promise.all([deno.close(), pyodide.close()]);
    rmSync(cacheFolder, { recursive: true, force: true });
  });

  test.each(javascript.map((item) => [item.id, item.title, item] as const))("%s %s", async (_id, _title, item) => {
    const start = () => startProgram(deno, `return await (async (tools) => {\n${item.snippet_or_steps}\n})(tools.t)`, { tools, limits: { cpuMs: 1_000 } });
    const run = start();
    const text = said(await run.ended);
    expect(text).not.toMatch(/^ESCAPED/);
    if (item.oracle === "limit") expect((await run.ended).kind).toBe("limit");
    if (item.oracle === "run-twice" || item.oracle === "replay-equal") expect(said(await start().ended)).toBe(text);
    expect(run.lateCalls).toEqual([]);
    expect(JSON.stringify([text, run.outputs])).not.toContain(canary);
  });

  test.each(python.map((item) => [item.id, item.title, item] as const))("%s %s", async (_id, _title, item) => {
    const run = await runPython(pyodide, item.snippet_or_steps, { limits: { cpuMs: 8_000 } });
    const told = JSON.stringify([run.end, run.out, run.err]);
    expect(told).not.toContain(canary);
    // It takes any named descriptor for a file of the host; these are devices of a file system in memory.
    if (item.id === "py-053") return expect(run.out).toMatch(/^ESCAPED \[(\(\d, '\/dev\/[a-z0-9_/]+'\)(, )?)+\]$/);
    expect(told).not.toMatch(/ESCAPED/);
    // Safe, or refused, because there is no such thing here: a process, a thread, a link, a socket.
    expect(run.out.includes("SAFE") || run.end.kind !== "returned", told).toBe(true);
    expect(readdirSync("/var/tmp").filter((name) => /owned|left-|envpoison/.test(name))).toEqual([]);
  }, 120_000);
});
