// Deno beside the embedded sandbox and the bare program: starts, a tool call, computing, Python from its snapshot. Medians and
// ratios of one process; absolute figures mean something on a quiet machine only.
//
//   node bench/deno.ts [rounds]
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxDriver } from "@callgate/contract";
import { createDenoDriver, createPyodideDriver, createPyodideLauncher } from "@callgate/sandbox-deno";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { startText, programText } from "@callgate/testkit";
import { median } from "./median.ts";

const rounds = Number(process.argv[2] ?? 15);

interface Job {
  readonly driver: SandboxDriver;
  readonly language: "javascript" | "python";
  readonly code: string;
  /** Time for a next engine to become ready. */
  readonly restMs?: number;
}

async function time({ driver, language, code, restMs = 0 }: Job): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startMs = performance.now();
    const end = await startText(driver, { language, code: language === "javascript" ? programText(code) : code }).ended;
    times.push(performance.now() - startMs);
    if (end.kind !== "returned") throw new Error(`the program ended ${JSON.stringify(end)}`);
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
  return median(times);
}

const one = { javascript: "return 1", python: "1" };
const calls = { javascript: "for (let i = 0; i < 1000; i++) await tools.demo.echo({ i })", python: "from tools import demo\nfor i in range(1000): demo.echo(i=i)" };
const compute = { javascript: "let s = 0; for (let i = 0; i < 2e7; i++) s = (s * 31 + i) % 1000003; return s", python: "def f():\n    s = 0\n    for i in range(2_000_000): s = (s * 31 + i) % 1000003\n    return s\nf()" };

const cacheFolder = mkdtempSync(join(tmpdir(), "callgate-bench-"));
const snapshotMs = await (async () => {
  const startMs = performance.now();
  await createPyodideLauncher({ cacheFolder }).probe();
  return performance.now() - startMs;
})();
const rows: [what: string, ms: number][] = [["snapshot of Python, made once", snapshotMs]];
async function measure(what: string, job: Job): Promise<number> {
  const ms = await time(job);
  rows.push([what, ms]);
  return ms;
}

const quickjs = createQuickJsDriver();
const cold = createDenoDriver({ warm: 0 });
const warm = createDenoDriver({ warm: 1 });
const coldPython = createPyodideDriver({ cacheFolder, warm: 0 });
const warmPython = createPyodideDriver({ cacheFolder, warm: 1 });
try {
  const bare = median(Array.from({ length: rounds }, () => {
    const startMs = performance.now();
    execFileSync(process.execPath, ["-e", "0"], { env: {} });
    return performance.now() - startMs;
  }));
  rows.push(["node -e 0, for scale", bare]);
  const javascript = { language: "javascript" } as const;
  const python = { language: "python" } as const;
  await measure("JavaScript, cold", { ...javascript, driver: cold, code: one.javascript });
  const ready = await measure("JavaScript, started ahead", { ...javascript, driver: warm, code: one.javascript, restMs: 300 });
  await measure("JavaScript, QuickJS", { ...javascript, driver: quickjs, code: one.javascript });
  const thousand = await measure("JavaScript, 1,000 tool calls", { ...javascript, driver: warm, code: calls.javascript, restMs: 300 });
  await measure("JavaScript, 1,000 tool calls, QuickJS", { ...javascript, driver: quickjs, code: calls.javascript });
  const loop = await measure("JavaScript, 2e7 turns of a loop", { ...javascript, driver: warm, code: compute.javascript, restMs: 300 });
  const slow = await measure("JavaScript, 2e7 turns of a loop, QuickJS", { ...javascript, driver: quickjs, code: compute.javascript });
  await measure("Python, from the snapshot", { ...python, driver: coldPython, code: one.python });
  await measure("Python, started ahead", { ...python, driver: warmPython, code: one.python, restMs: 1_500 });
  const thousandPython = await measure("Python, 1,000 tool calls", { ...python, driver: warmPython, code: calls.python, restMs: 1_500 });
  await measure("Python, 2e6 turns of a loop", { ...python, driver: warmPython, code: compute.python, restMs: 1_500 });
  for (const [what, ms] of rows) process.stdout.write(`${what.padEnd(44)} ${ms.toFixed(1).padStart(9)} ms\n`);
  process.stdout.write(`a tool call: JavaScript ${((thousand - ready) / 1000).toFixed(3)} ms, Python ${(thousandPython / 1000).toFixed(3)} ms; a loop in V8 is ${(slow / loop).toFixed(1)} times as fast as in QuickJS\n`);
} finally {
  await Promise.all([quickjs, cold, warm, coldPython, warmPython].map((driver) => driver.close()));
  rmSync(cacheFolder, { recursive: true, force: true });
}
