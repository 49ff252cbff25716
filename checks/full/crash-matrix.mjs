// Crashes in a simulated world: every step of every program (found by counting the steps, not by hand), and random
// seeds with one to three deaths or stops and one to three resumers. Prints a table, and writes it to
// docs/results/crash-matrix.md with --write.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { noFaults, randomFaults, simulate, simulatedPrograms } from "@callgate/testkit";
import { openSimulatedGate, sharedParts, sqliteStore } from "../../packages/runtime/src/run/fixtures/simulation-parts.ts";

const { values } = parseArgs({ options: { seeds: { type: "string", default: "10000" }, write: { type: "boolean", default: false } } });
const seedsEach = Math.ceil(Number(values.seeds) / simulatedPrograms.length);
const parts = sharedParts();

async function simulated(program, faults, seed) {
  const store = sqliteStore();
  try {
    return await simulate({ program, faults, seed, resumers: 1 + (seed % 3), driver: parts.driver, checker: parts.checker, openGate: openSimulatedGate, openJournal: (clock) => store.open(clock) });
  } catch (fault) {
    return { faults: [fault instanceof Error ? fault.message : String(fault)], steps: [], settledByPerson: 0, result: undefined };
  } finally {
    store.remove();
  }
}

function count(row, faults, { steps, settledByPerson, faults: wrong }, name) {
  row.simulations += 1;
  row.crashes += steps.filter(({ fault }) => fault === "crash").length;
  row.stops += steps.filter(({ fault }) => fault === "pause").length;
  row.settled += settledByPerson;
  row.wrong += wrong.length > 0 ? 1 : 0;
  if (wrong.length > 0 && row.wrong <= 20) console.log(`  ${name}: ${wrong.join("; ")} (killed at ${[...faults.crashes].map((at) => `${at} ${steps[at]?.label ?? ""}`).join(", ")}; stopped at ${[...faults.pauses.keys()].map((at) => `${at} ${steps[at]?.label ?? ""}`).join(", ")})`);
}

const rows = [];
for (const program of simulatedPrograms) {
  const whole = await simulated(program, noFaults, 1);
  const every = { program: program.name, kind: `every one of ${whole.steps.length} steps`, simulations: 0, crashes: 0, stops: 0, settled: 0, wrong: 0 };
  count(every, noFaults, whole, "without faults");
  for (let step = 1; step < whole.steps.length; step += 1) {
    const faults = { crashes: new Set([step]), pauses: new Map() };
    count(every, faults, await simulated(program, faults, 1), `step ${step}`);
  }
  const seeds = { program: program.name, kind: "random seeds", simulations: 0, crashes: 0, stops: 0, settled: 0, wrong: 0 };
  for (let seed = 1; seed <= seedsEach; seed += 1) {
    const faults = randomFaults(seed, whole.steps.length);
    count(seeds, faults, await simulated(program, faults, seed), `seed ${seed}`);
    if (seed % 500 === 0) console.log(`${program.name}: ${seed} of ${seedsEach} seeds, ${seeds.wrong} wrong`);
  }
  rows.push(every, seeds);
}
await parts.close();

const table = ["| program | faults at | simulations | deaths | stops beyond the lease | settled by a person | promises broken |", "| --- | --- | --- | --- | --- | --- | --- |", ...rows.map((row) => `| ${row.program} | ${row.kind} | ${row.simulations} | ${row.crashes} | ${row.stops} | ${row.settled} | ${row.wrong} |`)].join("\n");
console.log(table);
if (values.write) {
  const text = `# Crash matrix\n\nMeasured ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, SQLite journal, QuickJS guests: \`node checks/full/crash-matrix.mjs\`.\nA simulated process dies, or stands still for longer than its lease and wakes again, before or after a write of the\njournal or an effect; one to three others go on. Time and the world behind the tools are simulated, all else is real.\n\n${table}\n`;
  writeFileSync(new URL("../../docs/results/crash-matrix.md", import.meta.url), text);
}
if (rows.some(({ wrong }) => wrong > 0)) process.exitCode = 1;
