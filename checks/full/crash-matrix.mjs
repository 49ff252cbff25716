// Crashes in a simulated world: every step of every program (found by counting the steps, not by hand), and random
// seeds with one to three deaths or stops and one to three resumers. Prints a table, and writes it to
// docs/results/crash-matrix.md with --write.
//
//   node checks/full/crash-matrix.mjs [--journal sqlite|postgres] [--seeds 10000] [--write]
//
// `--part 2/3` does every third seed from the second on and keeps its rows in the file of `--rows`, from which it goes on
// when it is started again; `--rows a,b,c` without a part puts those together.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { noFaults, randomFaults, rolledBackProgram, simulate, simulatedPrograms, waitingProgram } from "@callgate/testkit";
import { postgresStores } from "../../packages/journal-postgres/src/fixtures/simulation-stores.ts";
import { openSimulatedGate, sharedParts, sqliteStores } from "../../packages/runtime/src/run/fixtures/simulation-parts.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const { values } = parseArgs({ options: { journal: { type: "string", default: "sqlite" }, seeds: { type: "string", default: "10000" }, part: { type: "string" }, rows: { type: "string" }, write: { type: "boolean", default: false } } });
const programs = [...simulatedPrograms, rolledBackProgram, waitingProgram];
const seedsEach = Math.ceil(Number(values.seeds) / programs.length);
const [part, partCount] = (values.part ?? "1/1").split("/").map(Number);
const journals = {
  sqlite: { name: "SQLite", open: sqliteStores, setsClock: true },
  // Its time is the server's alone.
  postgres: { name: "PostgreSQL", open: postgresStores, setsClock: false },
};
const journal = journals[values.journal];
const rowsEach = journal?.setsClock === true ? 3 : 2;
if (journal === undefined) throw new Error(`There is no journal ${values.journal}: ${Object.keys(journals).join(", ")}`);

async function simulated({ parts, stores }, program, faults, seed) {
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
  row.sets += steps.filter(({ fault }) => fault === "clock").length;
  row.settled += settledByPerson;
  row.wrong += wrong.length > 0 ? 1 : 0;
  if (wrong.length > 0 && row.wrong <= 20) console.log(`  ${name}: ${wrong.join("; ")} (killed at ${[...faults.crashes].map((at) => `${at} ${steps[at]?.label ?? ""}`).join(", ")}; stopped at ${[...faults.pauses.keys()].map((at) => `${at} ${steps[at]?.label ?? ""}`).join(", ")})`);
}

const newRow = (program, kind) => ({ program: program.name, kind, simulations: 0, crashes: 0, stops: 0, sets: 0, settled: 0, wrong: 0 });

/** One program after the other at each seed, so that what is there at any time is even. */
async function takeRows() {
  const world = { parts: sharedParts(), stores: await journal.open() };
  const wholes = [];
  for (const program of programs) wholes.push(await simulated(world, program, noFaults, 1));
  const begun = values.rows === undefined || !existsSync(values.rows) ? undefined : JSON.parse(readFileSync(values.rows, "utf8"));
  const rows = begun?.rows ?? (await everyStep(world, wholes));
  for (let seed = begun?.nextSeed ?? part; seed <= seedsEach; seed += partCount) {
    for (const [index, program] of programs.entries()) {
      const faults = randomFaults(seed, wholes[index].steps.length, { setsClock: journal.setsClock });
      count(rows[index * rowsEach + rowsEach - 1], faults, await simulated(world, program, faults, seed), `${program.name}, seed ${seed}`);
    }
    if (values.rows !== undefined && rows[rowsEach - 1].simulations % 20 === 0) writeFileSync(values.rows, JSON.stringify({ nextSeed: seed + partCount, rows }));
    if (rows[rowsEach - 1].simulations % 100 === 0) console.log(`seed ${seed} of ${seedsEach}: ${rows.reduce((sum, { simulations }) => sum + simulations, 0)} simulations, ${rows.reduce((sum, { wrong }) => sum + wrong, 0)} wrong`);
  }
  if (values.rows !== undefined) writeFileSync(values.rows, JSON.stringify({ nextSeed: seedsEach + 1, rows }));
  await world.parts.close();
  await world.stores.close();
  return rows;
}

/** Of the first part only: there are few. */
async function everyStep(world, wholes) {
  const rows = [];
  for (const [index, program] of programs.entries()) {
    const whole = wholes[index];
    const row = newRow(program, `every one of ${whole.steps.length} steps`);
    const sets = journal.setsClock ? newRow(program, `wall clock set on, every one of ${whole.steps.length} steps`) : undefined;
    rows.push(row, ...(sets === undefined ? [] : [sets]), newRow(program, "random seeds"));
    if (part !== 1) continue;
    count(row, noFaults, whole, `${program.name}, without faults`);
    for (let step = 1; step < whole.steps.length; step += 1) {
      const faults = { crashes: new Set([step]), pauses: new Map() };
      count(row, faults, await simulated(world, program, faults, 1), `${program.name}, step ${step}`);
      const set = { ...noFaults, clockSets: new Map([[step, 600_000]]) };
      if (sets !== undefined) count(sets, set, await simulated(world, program, set, 1), `${program.name}, wall clock set on at step ${step}`);
    }
  }
  return rows;
}

function added(all) {
  return all[0].map((row, index) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, typeof value === "number" ? all.reduce((sum, rows) => sum + rows[index][name], 0) : value])));
}

const putTogether = values.rows !== undefined && values.part === undefined;
const rows = putTogether ? added(values.rows.split(",").map((file) => JSON.parse(readFileSync(file, "utf8")).rows)) : await takeRows();

const table = markdownTable(["program", "faults at", "simulations", "deaths", "stops beyond the lease", "wall clock set", "settled by a person", "promises broken"], rows.map((row) => [row.program, row.kind, row.simulations, row.crashes, row.stops, row.sets, row.settled, row.wrong]));
console.log(table);
if (values.write) {
  const intro = `# Crash matrix

A simulated process dies, or stands still for longer than its lease and wakes again, before or after a write of the journal
or an effect; one to three others go on. On SQLite somebody also sets the wall clock on by more than a lease; the time of
PostgreSQL is its server's. Then the world and the record are held against what the program asked for: every effect once,
none lost, none unknown in silence, what is undone undone once, each completion delivered once. Time and the world behind the
tools are simulated; gate, QuickJS guests and journal are real.`;
  const command = `node checks/full/crash-matrix.mjs --journal ${values.journal} --seeds ${values.seeds}`;
  const done = rows.reduce((sum, { kind, simulations }) => (kind === "random seeds" ? sum + simulations : sum), 0);
  const early = done < Number(values.seeds) ? ` Stopped early, after ${done} of ${values.seeds} seeds; what is there is whole.` : "";
  writeSection({ page: "crash-matrix.md", intro, section: journal.name, text: `${measured(command)}${early}\n\n${table}` });
}
if (rows.some(({ wrong }) => wrong > 0)) process.exitCode = 1;
