// Real processes, really killed: a run is begun by one process, killed at a random moment with SIGKILL, gone on with by
// the next, which may be killed as well, until it has ended. Then the world and the record are held against what the
// program asked for: no effect lost, none doubled, none unknown in silence. Prints a table, and writes it to
// docs/results/kill-matrix.md with --write.
import { fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { judge, ledgerOf, simulatedPrograms } from "@callgate/testkit";

const { values } = parseArgs({ options: { kills: { type: "string", default: "300" }, write: { type: "boolean", default: false } } });
const wanted = Number(values.kills);
const child = new URL("../../packages/runtime/src/run/fixtures/killed-process.ts", import.meta.url);
const maxProcesses = 12;

/** Runs one process; kills it `killAfterMs` after it has begun, or lets it end. */
function runProcess(args, killAfterMs) {
  return new Promise((resolve) => {
    const seen = { runId: undefined, result: undefined, settled: 0, killed: false };
    const started = fork(child, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    let timer;
    const arm = () => {
      if (killAfterMs !== undefined) timer ??= setTimeout(() => (seen.killed = started.kill("SIGKILL")), killAfterMs);
    };
    started.on("message", (message) => {
      if (message.kind === "run-started") seen.runId = message.runId;
      if (message.kind === "run-started" || message.kind === "run-resumed") arm();
      if (message.kind === "settled") seen.settled += 1;
      if (message.kind === "result") seen.result = message.result;
    });
    started.on("exit", () => {
      clearTimeout(timer);
      resolve(seen);
    });
  });
}

async function one(program, random) {
  const folder = mkdtempSync(join(tmpdir(), "callgate-kill-"));
  writeFileSync(join(folder, "ledger"), "");
  const counts = { kills: 0, settled: 0 };
  try {
    let seen = await runProcess(["start", folder, program.name], random() * 250);
    const { runId } = seen;
    if (seen.killed) counts.kills += 1;
    for (let begun = 1; seen.result === undefined && runId !== undefined && begun < maxProcesses; begun += 1) {
      seen = await runProcess(["resume", folder, runId], random() < 0.4 ? random() * 150 : undefined);
      counts.settled += seen.settled;
      if (seen.killed) counts.kills += 1;
    }
    const ledger = ledgerOf(readFileSync(join(folder, "ledger"), "utf8"));
    const nothing = runId === undefined || (seen.result === undefined && ledger.entries.length === 0);
    const faults = nothing ? [] : judge({ program, ledger, run: { status: seen.result?.status, waits: [] }, result: seen.result, entries: [] });
    return { ...counts, faults, folder };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const rows = [];
for (const program of simulatedPrograms) {
  const row = { program: program.name, runs: 0, kills: 0, settled: 0, faults: [] };
  while (row.kills < wanted / simulatedPrograms.length) {
    // Two at once, for there are two cores.
    for (const { kills, settled, faults } of await Promise.all([one(program, Math.random), one(program, Math.random)])) {
      row.runs += 1;
      row.kills += kills;
      row.settled += settled;
      row.faults.push(...faults);
    }
  }
  rows.push(row);
  console.log(`${row.program}: ${row.runs} runs, ${row.kills} kills, ${row.settled} effects settled by a person, ${row.faults.length} faults`);
  for (const fault of row.faults) console.log("  ", fault);
}

const table = ["| program | runs | SIGKILLs | effects settled by a person | promises broken |", "| --- | --- | --- | --- | --- |", ...rows.map((row) => `| ${row.program} | ${row.runs} | ${row.kills} | ${row.settled} | ${row.faults.length} |`)].join("\n");
console.log(table);
if (values.write) {
  const text = `# Killed processes\n\nMeasured ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, SQLite journal, QuickJS guests: \`node checks/full/kill-matrix.mjs\`.\nEach process was killed with SIGKILL at a random moment of its run; the next one went on. Held against what the program\nasked for: every effect once, none lost, none unknown in silence.\n\n${table}\n`;
  writeFileSync(new URL("../../docs/results/kill-matrix.md", import.meta.url), text);
}
if (rows.some((row) => row.faults.length > 0)) process.exitCode = 1;
