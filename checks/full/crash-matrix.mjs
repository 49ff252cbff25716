// Crashes in a simulated world: every step of every program (found by counting the steps, not by hand), and random
// seeds with one to three deaths or stops and one to three resumers. Prints a table, and writes it to
// docs/results/crash-matrix.md with --write.
//
//   node checks/full/crash-matrix.mjs [--journal sqlite|postgres] [--seeds 10000] [--from 1] [--write]
import { parseArgs } from "node:util";
import { noFaults, randomFaults, simulate, simulatedPrograms } from "@callgate/testkit";
import { postgresStores } from "../../packages/journal-postgres/src/fixtures/simulation-stores.ts";
import { openSimulatedGate, sharedParts, sqliteStore } from "../../packages/runtime/src/run/fixtures/simulation-parts.ts";
import { markdownTable, measured, writeSection } from "./result-page.mjs";

const { values } = parseArgs({ options: { journal: { type: "string", default: "sqlite" }, seeds: { type: "string", default: "10000" }, from: { type: "string", default: "1" }, write: { type: "boolean", default: false } } });
const seedsEach = Math.ceil(Number(values.seeds) / simulatedPrograms.length);
const firstSeed = Number(values.from);
const parts = sharedParts();
const journals = {
  sqlite: { name: "SQLite", open: () => Promise.resolve({ store: sqliteStore, close: () => Promise.resolve() }) },
  postgres: { name: "PostgreSQL", open: postgresStores },
};
const journal = journals[values.journal];
if (journal === undefined) throw new Error(`There is no journal ${values.journal}: ${Object.keys(journals).join(", ")}`);
const stores = await journal.open();

async function simulated(program, faults, seed) {
  const store = stores.store();
  try {
    return await simulate({ program, faults, seed, resumers: 1 + (seed % 3), driver: parts.driver, checker: parts.checker, openGate: openSimulatedGate, openJournal: (clock) => store.open(clock), ...(store.atRest === undefined ? {} : { storeAtRest: () => store.atRest() }) });
  } catch (fault) {
    return { faults: [fault instanceof Error ? fault.message : String(fault)], steps: [], settledByPerson: 0, result: undefined };
  } finally {
    await store.remove();
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
  for (let seed = firstSeed; seed < firstSeed + seedsEach; seed += 1) {
    const faults = randomFaults(seed, whole.steps.length);
    count(seeds, faults, await simulated(program, faults, seed), `seed ${seed}`);
    if (seed % 200 === 0) console.log(`${program.name}: ${seed + 1 - firstSeed} of ${seedsEach} seeds, ${seeds.crashes} deaths, ${seeds.wrong} wrong`);
  }
  rows.push(every, seeds);
}
await parts.close();
await stores.close();

const table = markdownTable(["program", "faults at", "simulations", "deaths", "stops beyond the lease", "settled by a person", "promises broken"], rows.map((row) => [row.program, row.kind, row.simulations, row.crashes, row.stops, row.settled, row.wrong]));
console.log(table);
if (values.write) {
  const intro = `# Crash matrix

A simulated process dies, or stands still for longer than its lease and wakes again, before or after a write of the journal
or an effect; one to three others go on. Then the world and the record are held against what the program asked for: every
effect once, none lost, none unknown in silence, what is undone undone once, each completion delivered once. Time and the
world behind the tools are simulated; gate, QuickJS guests and journal are real.`;
  const command = `node checks/full/crash-matrix.mjs --journal ${values.journal} --seeds ${values.seeds}${firstSeed === 1 ? "" : ` --from ${firstSeed}`}`;
  writeSection({ page: "crash-matrix.md", intro, section: journal.name, text: `${measured(command)}\n\n${table}` });
}
if (rows.some(({ wrong }) => wrong > 0)) process.exitCode = 1;
