// Real processes, really killed: a run is begun by one process, killed at a random moment with SIGKILL, gone on with by
// the next, which may be killed as well, until it has ended. Then the world and the record are held against what the
// program asked for: no effect lost, none doubled, none unknown in silence. Guests are QuickJS and Deno, which are executed
// again, and Node and Python behind bubblewrap, which cannot be: their runs end, tell what they did, and are undone. Prints a
// table, and writes it to docs/results/kill-matrix.md with --write.
//
//   node checks/full/kill-matrix.mjs [--journal sqlite|postgres] [--guest quickjs|deno|node|python] [--kills 300] [--minutes 120] [--write]
import { fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { judge, judgeInterrupted, judgeUndone, ledgerOf, simulatedPrograms, waitingProgram } from "@callgate/testkit";
import { startPostgres } from "../../packages/journal-postgres/src/fixtures/private-postgres.ts";
import { maxLosses } from "../../packages/runtime/src/run/losses.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const { values } = parseArgs({ options: { journal: { type: "string", default: "sqlite" }, guest: { type: "string", default: "quickjs" }, kills: { type: "string", default: "300" }, minutes: { type: "string", default: "120" }, write: { type: "boolean", default: false } } });
const journalName = { sqlite: "SQLite", postgres: "PostgreSQL" }[values.journal];
const guestName = { quickjs: "QuickJS", deno: "Deno", node: "Node", python: "Python" }[values.guest];
/** Whether its runs end with their process. */
const isInterrupted = values.guest === "node" || values.guest === "python";
if (journalName === undefined || guestName === undefined) throw new Error("--journal is sqlite or postgres, --guest quickjs, deno, node or python");
const programs = [...simulatedPrograms, waitingProgram];
const child = new URL("../../packages/runtime/src/run/fixtures/killed-process.ts", import.meta.url);
const maxProcesses = 12;
/** Most of what a process does is to load; what one compiled the next one has. */
const cache = mkdtempSync(join(tmpdir(), "callgate-kill-cache-"));
const server = values.journal === "postgres" ? await startPostgres({ fsync: false }) : undefined;
const url = await server?.createDatabase("killed");

/** How long a run takes that nobody kills, by program: machines differ, and this one does from minute to minute. */
const usualMs = new Map();

/** Runs one process; kills it so far into its run, as a share of the usual time, or lets it end. */
function runProcess(orders, killAt) {
  return new Promise((resolve) => {
    const seen = { runId: undefined, result: undefined, undone: undefined, reported: undefined, nothing: false, settled: 0, killed: false };
    const started = fork(child, [JSON.stringify({ ...orders, guest: values.guest, ...(url === undefined ? {} : { url }) })], { stdio: ["ignore", "ignore", "inherit", "ipc"], env: { ...process.env, NODE_COMPILE_CACHE: cache } });
    let timer;
    let beganMs;
    const arm = () => {
      beganMs ??= performance.now();
      if (killAt !== undefined) timer ??= setTimeout(() => (seen.killed = started.kill("SIGKILL")), killAt * (usualMs.get(orders.program) ?? 250));
    };
    started.on("message", (message) => {
      if (message.kind === "run-started") seen.runId = message.runId;
      if (message.kind === "run-started" || message.kind === "run-resumed") arm();
      if (message.kind === "settled") seen.settled += 1;
      if (message.kind === "nothing") seen.nothing = true;
      if (message.kind === "interrupted") seen.reported = message.reported;
      if (message.kind === "undone") seen.undone = message.result;
      if (message.kind === "result") seen.result = message.result;
      if (message.kind === "result" && orders.role === "start" && killAt === undefined) usualMs.set(orders.program, performance.now() - beganMs);
    });
    // A process that is dead may still have been heard of.
    started.on("close", () => {
      clearTimeout(timer);
      resolve(seen);
    });
  });
}

const isOver = ({ result, undone, nothing }) => nothing || result !== undefined && result.status !== "suspended" && (result.status !== "crashed" || undone !== undefined);

async function one(program, kills) {
  const folder = mkdtempSync(join(tmpdir(), "callgate-kill-"));
  writeFileSync(join(folder, "ledger"), "");
  const counts = { kills: 0, settled: 0, interrupted: 0 };
  try {
    let seen = await runProcess({ role: "start", folder, program: program.name }, kills ? Math.random() : undefined);
    const { runId } = seen;
    let reported;
    if (seen.killed) counts.kills += 1;
    for (let begun = 1; !isOver(seen) && runId !== undefined && begun < maxProcesses; begun += 1) {
      seen = await runProcess({ role: "resume", folder, program: program.name, runId }, counts.kills < maxLosses - 1 && Math.random() < 0.4 ? Math.random() * 0.7 : undefined);
      counts.settled += seen.settled;
      if (seen.killed) counts.kills += 1;
      reported ??= seen.reported;
    }
    const ledger = ledgerOf(readFileSync(join(folder, "ledger"), "utf8"));
    const nothing = (runId === undefined || seen.nothing) && ledger.entries.length === 0;
    return { ...counts, interrupted: seen.result?.status === "crashed" ? 1 : 0, faults: nothing ? [] : faultsOf(program, { ledger, seen, reported }) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function faultsOf(program, { ledger, seen, reported }) {
  const { result, undone } = seen;
  if (isInterrupted && result?.status === "crashed") {
    return [...judgeInterrupted({ ledger, result, reported: reported ?? [] }), ...judgeUndone({ ledger, result: undone })];
  }
  return judge({ program, ledger, run: { status: result?.status, waits: [] }, result, entries: [] });
}

const rows = programs.map(({ name }) => ({ program: name, runs: 0, kills: 0, interrupted: 0, settled: 0, faults: [] }));

function add(row, { kills, settled, interrupted, faults }) {
  row.runs += 1;
  row.kills += kills;
  row.interrupted += interrupted;
  row.settled += settled;
  row.faults.push(...faults);
  for (const fault of faults) console.log(`  ${row.program}: ${fault}`);
}

const untilMs = performance.now() + Number(values.minutes) * 60_000;
for (const [index, program] of programs.entries()) add(rows[index], await one(program, false));
for (let round = 1; rows.some(({ kills }) => kills < Number(values.kills) / programs.length) && performance.now() < untilMs; round += 1) {
  for (const [index, program] of programs.entries()) {
    if (rows[index].kills >= Number(values.kills) / programs.length) continue;
    // Two at once, for there are two cores.
    for (const counts of await Promise.all([one(program, true), one(program, true)])) add(rows[index], counts);
  }
  if (round % 10 === 0) console.log(rows.map(({ program, kills, faults }) => `${program}: ${kills} kills, ${faults.length} faults`).join("; "));
}
await server?.stop();
rmSync(cache, { recursive: true, force: true });

const head = ["program", "runs", "SIGKILLs", ...(isInterrupted ? ["ended as interrupted"] : []), "effects settled by a person", "promises broken"];
const table = markdownTable(head, rows.map((row) => [row.program, row.runs, row.kills, ...(isInterrupted ? [row.interrupted] : []), row.settled, row.faults.length]));
console.log(table);
if (values.write) {
  const intro = `# Killed processes

Each process was killed with SIGKILL at a random moment of its run; the next one went on, and may have been killed as well.
QuickJS and Deno guests are executed again from their record; held against what the program asked for: every effect once, none lost,
none unknown in silence. A run that is lost five times at one point is given up, so none is killed more often than four
times. A process of Node or Python cannot be executed again: its run ends as \`crashed\`, every write that happened is
on record as done or unknown, none happened twice, and what happened is undone once or listed for a person. \`waiting\` is
answered by a person in its middle: QuickJS and Deno are suspended meanwhile, Node and Python wait alive.`;
  const killed = rows.reduce((sum, { kills }) => sum + kills, 0);
  const early = killed < Number(values.kills) ? ` Stopped early, by its time (\`--minutes ${values.minutes}\`), after ${killed} of ${values.kills} kills; what is there is whole.` : "";
  writeSection({ page: "kill-matrix.md", intro, section: `${guestName} on ${journalName}`, text: `${measured(`node checks/full/kill-matrix.mjs --journal ${values.journal} --guest ${values.guest} --kills ${values.kills}`)}${early}\n\n${table}` });
}
if (rows.some((row) => row.faults.length > 0)) process.exitCode = 1;
