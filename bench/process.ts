// What a real interpreter behind bubblewrap costs: a start, a waiting interpreter, a block of a session, a tool call (driver
// alone, and through gate and journal), 50 MB of output, a hundred programs at once, a waiting interpreter's memory, and
// what is left after a thousand killed runs. Beside them the bare interpreter, and @anthropic-ai/sandbox-runtime where it is
// installed (npm ci --legacy-peer-deps --prefix bench/peers). Medians of one process; read the ratios.
//
//   node bench/process.ts [--kills 1000] [--write]
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createCallgate, defineTool } from "callgate";
import type { GuestSession, ProgramLanguage, SandboxDriver } from "@callgate/contract";
import { createBubblewrapLauncher, createProcessDriver, nodeLanguage, pythonLanguage, shellLanguage } from "@callgate/sandbox-process";
import { programText } from "@callgate/testkit";
import { markdownTable, measured, writeSection } from "../checks/full/result-page.ts";
import { runSource, startSource } from "../packages/sandbox-process/src/fixtures/run-source.ts";
import { medianMs } from "./median.ts";

const { values } = parseArgs({ options: { kills: { type: "string", default: "1000" }, write: { type: "boolean", default: false } } });
const kills = Number(values.kills);
const languages = [pythonLanguage, nodeLanguage(), shellLanguage];
const open = (warm: number, maxGuests = 16): SandboxDriver => createProcessDriver({ launcher: createBubblewrapLauncher(), languages, warm, maxGuests });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const rows: string[][] = [];
function row(what: string, value: number, unit: string, beside = ""): void {
  const shown = value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
  rows.push([what, shown, unit, beside]);
  console.log(what.padEnd(64), `${shown} ${unit}`.padEnd(14), beside);
}
const times = (value: number, of: number, what: string): string => `${(value / of).toFixed(2)} × ${what}`;

interface Dialect {
  readonly name: string;
  readonly language: ProgramLanguage;
  readonly one: string;
  readonly bare: readonly [command: string, ...rest: string[]];
  /** A thousand calls, one after the other. */
  readonly calls?: string;
}
const environment = { PATH: process.env["PATH"] ?? "" };
// A python3 of a version manager is a script that looks for the interpreter; what is measured is the interpreter.
const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
const dialects: readonly Dialect[] = [
  { name: "Python", language: "python", one: "1", bare: [python, "-I", "-c", "1"], calls: "from tools import demo\nfor i in range(1000): demo.echo(i=i)" },
  { name: "Node", language: "javascript", one: "return 1", bare: [process.execPath, "-e", "1"], calls: "for (let i = 0; i < 1000; i++) await tools.demo.echo({ i });" },
  { name: "shell", language: "shell", one: "true", bare: ["bash", "-c", "true"] },
];

async function must(driver: SandboxDriver, code: string, language: ProgramLanguage): Promise<void> {
  const { end } = await runSource(driver, language === "javascript" ? programText(code) : code, { language, limits: { calls: 5_000, cpuMs: 120_000 } });
  if (end.kind !== "returned") throw new Error(`${language} ended ${JSON.stringify(end)}`);
}

const starts: Record<string, number> = {};
for (const { name, bare: [command, ...rest] } of dialects) {
  starts[name] = await medianMs(15, () => execFileSync(command, rest, { env: environment, stdio: "ignore" }));
  row(`bare ${name}: ${[basename(command), ...rest].join(" ")}`, starts[name], "ms");
}
const srt = fileURLToPath(new URL("peers/node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js", import.meta.url));
if (existsSync(srt)) {
  const folder = mkdtempSync(join(tmpdir(), "callgate-srt-"));
  const settings = join(folder, "settings.json");
  writeFileSync(settings, JSON.stringify({ network: { allowedDomains: [], deniedDomains: [] }, filesystem: { denyRead: [], allowWrite: [], denyWrite: [] } }));
  const run = (): void => {
    const { status, stderr } = spawnSync(process.execPath, [srt, "--settings", settings, "-c", "python3 -I -c 1"], { encoding: "utf8" });
    if (status !== 0) throw new Error(`sandbox-runtime: ${stderr}`);
  };
  try {
    run();
    row("sandbox-runtime: srt -c python3 -I -c 1", await medianMs(5, run), "ms", "peer");
  } catch (fault) {
    console.log(fault instanceof Error ? fault.message.slice(0, 200) : "sandbox-runtime did not run");
  }
  rmSync(folder, { recursive: true, force: true });
} else console.log("@anthropic-ai/sandbox-runtime is not installed: npm ci --legacy-peer-deps --prefix bench/peers");

for (const { name, language, one } of dialects) {
  const cold = open(0);
  await must(cold, one, language);
  const ms = await medianMs(15, () => must(cold, one, language));
  row(`${name}: start behind bubblewrap, run, end`, ms, "ms", times(ms, starts[name] ?? 1, "bare"));
  await cold.close();
  const warm = open(1);
  await must(warm, one, language);
  await pause(1_000);
  const ready = await medianMs(15, () => must(warm, one, language), 700);
  row(`${name}: run in an interpreter that waits`, ready, "ms", times(ready, starts[name] ?? 1, "bare"));
  await warm.close();
}

const driver = open(1);
async function block(session: GuestSession, code: string, language: ProgramLanguage): Promise<void> {
  const { end } = await runSource({ ...driver, start: (job, host) => session.start(job, host) }, code, { language });
  if (end.kind !== "returned") throw new Error(`a block ended ${JSON.stringify(end)}`);
}
for (const { name, language, one } of dialects) {
  const session = driver.openSession?.({ sessionId: `bench-${name}`, language, memoryMiB: 512, idleMs: 60_000, totalMs: 600_000 });
  if (session === undefined) throw new Error("the driver has no sessions");
  // A block of JavaScript is a text of its own, as in Node's console.
  const text = language === "javascript" ? "1" : one;
  await block(session, text, language);
  row(`${name}: block of a session`, await medianMs(200, () => block(session, text, language)), "ms");
  await session.close();
}
for (const { name, language, calls } of dialects) {
  if (calls === undefined) continue;
  await must(driver, calls, language);
  row(`${name}: tool call, driver alone`, (await medianMs(5, () => must(driver, calls, language))) / 1_000, "ms");
}

const folder = mkdtempSync(join(tmpdir(), "callgate-bench-"));
const echo = defineTool({ name: "echo", description: "Answers its arguments", input: { type: "object", properties: { i: { type: "number" } } }, effect: "read", handler: async (args: object) => args });
const gate = await createCallgate({ stateFolder: folder, tools: { demo: [echo] }, rules: [{ id: "bench", allow: "demo.*" }], sandbox: { launcher: "bubblewrap" } });
const throughGate = async (): Promise<void> => {
  const result = await gate.run("from tools import demo\nfor i in range(1000): demo.echo(i=i)", { language: "python", limits: { calls: 2_000, cpuMs: 60_000 } });
  if (result.status !== "completed") throw new Error(`${result.status}: ${result.error?.message ?? result.diagnostics[0]?.message ?? ""}`);
};
await throughGate();
row("Python: tool call with check, gate and journal", (await medianMs(5, throughGate)) / 1_000, "ms");
await gate.close();
rmSync(folder, { recursive: true, force: true });

const megabytes = 50;
const flood = `import sys\nline = 'x' * 99 + '\\n'\nfor _ in range(${megabytes * 10_000}): sys.stdout.write(line)\nNone`;
const bareFlood = await medianMs(3, async () => {
  const child = spawn(python, ["-I", "-c", flood], { env: environment, stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.resume();
  await new Promise((resolve) => child.once("close", resolve));
});
const flooded = await medianMs(3, () => must(driver, flood, "python"));
row(`${megabytes} MB printed, beginning and end kept`, flooded, "ms", times(flooded, bareFlood, "bare Python into a pipe"));

const hundred = open(1, 100);
await must(hundred, "1", "python");
const sleepers = await medianMs(3, () => Promise.all(Array.from({ length: 100 }, (_, n) => must(hundred, `import time\ntime.sleep(0.2)\n${n}`, "python"))));
const bareHundred = await medianMs(3, () => Promise.all(Array.from({ length: 100 }, () => new Promise((resolve) => spawn(python, ["-I", "-c", "import time; time.sleep(0.2)"], { env: environment, stdio: "ignore" }).once("close", resolve)))));
row("100 programs at once, each 0.2 s asleep", sleepers, "ms", times(sleepers, bareHundred, "bare"));
await hundred.close();

/** Memory that only these processes have, and their share of what they share, in MiB. */
function memoryOf(pids: readonly number[]): number {
  const kib = pids.map((pid) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0));
  return kib.reduce((sum, one) => sum + one, 0) / 1024;
}

/** Every process that is ours, however deep. */
function descendants(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      parents.set(Number(name), Number(readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]));
    } catch {
      // It ended meanwhile.
    }
  }
  const found: number[] = [];
  for (const queue = [root]; queue.length > 0; ) {
    const parent = queue.shift();
    for (const [pid, above] of parents) {
      if (above !== parent) continue;
      found.push(pid);
      queue.push(pid);
    }
  }
  return found;
}

await driver.close();
await pause(500);
const before = descendants(process.pid).length;
for (const { name, language, one } of dialects) {
  const waiting = open(4);
  await must(waiting, one, language);
  await pause(2_500);
  const pids = descendants(process.pid);
  row(`${name}: memory of an interpreter that waits`, memoryOf(pids) / 4, "MiB", `${(pids.length - before) / 4} processes each`);
  await waiting.close();
}

const killer = open(2);
await must(killer, "1", "python");
const killMs: number[] = [];
for (let done = 0; done < kills; done += 8) {
  const started = Array.from({ length: 8 }, () => startSource(killer, "import os, signal, subprocess, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nif os.fork() == 0:\n    os.setsid()\n    while True: time.sleep(1)\nsubprocess.Popen(['sleep', '600'])\nprint('up', flush=True)\nwhile True: time.sleep(1)"));
  await Promise.all(started.map(({ said }) => said));
  const from = performance.now();
  for (const { run } of started) run.cancel();
  await Promise.all(started.map(({ done: ended }) => ended));
  killMs.push(performance.now() - from);
}
row(`eight runs with children that ignore TERM, killed at once: all dead after`, killMs.toSorted((a, b) => a - b)[Math.floor(killMs.length / 2)] ?? Number.NaN, "ms");
await killer.close();
await pause(1_000);
row(`processes left after ${kills} killed runs`, descendants(process.pid).length - before, "");
if (values.write) {
  const intro = "# Process sandboxes\n\nReal interpreters behind bubblewrap, on two cores. Medians of one process; absolute figures are those of this machine, ratios travel.";
  writeSection({ page: "process.md", intro, section: "bubblewrap", text: `${measured("node bench/process.ts --write")}\n\n${markdownTable(["what", "figure", "unit", "beside"], rows)}` });
}
