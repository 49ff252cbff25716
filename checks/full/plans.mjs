// Rehearse, approve, apply on all 520 tasks of tau-retail, and drift in 100 of them. Each task is a program that takes the
// numbers of its orders from the orders as it reads them. Its plan has to hold the data set's writes, the rehearsal has to
// leave the database as it was, and applying has to end on the data set's state. For drift an order gets another number
// once the plan was approved: the run has to stop before it writes to that. `node checks/full/plans.mjs`
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRetailShop } from "../../examples/tau-retail/retail-plans.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const drifts = 100;
const data = new URL("../../../shared/data/agent/tau-retail/", import.meta.url);
if (!existsSync(data)) {
  console.log("skipped: the data set is not beside this repository (../shared/data/agent/tau-retail)");
  process.exit(0);
}
const read = (name) => readFileSync(new URL(name, data), "utf8");
const stateFolder = mkdtempSync(join(tmpdir(), "callgate-plans-"));
const shop = await openRetailShop(read("db.json"), stateFolder);
const total = { tasks: 0, items: 0, unsure: 0, gold: 0, unchanged: 0, applied: 0, drifted: 0, caught: 0, before: 0 };
const wrong = [];
try {
  // Tasks of several writes first for drift: what was written before it has to stay exactly that.
  const tasks = read("tasks.jsonl").trim().split("\n").map((line) => JSON.parse(line)).sort((a, b) => b.actions.length - a.actions.length);
  for (const task of tasks) {
    const planned = await shop.plan(task, { withDrift: total.drifted < drifts });
    total.tasks += 1;
    total.items += planned.items;
    total.unsure += planned.unsure;
    if (planned.isGold) total.gold += 1;
    if (planned.isUnchanged) total.unchanged += 1;
    if (planned.endsOnGold) total.applied += 1;
    if (planned.drift !== undefined) {
      total.drifted += 1;
      total.before += planned.drift.before;
      if (planned.drift.isCaught) total.caught += 1;
    }
    wrong.push(...planned.wrong);
    if (total.tasks % 50 === 0) console.log(`${total.tasks} tasks, ${wrong.length} wrong`);
  }
} finally {
  await shop.close();
  rmSync(stateFolder, { recursive: true, force: true });
}
const table = markdownTable(["", ""], [
  ["tasks rehearsed, approved and applied", total.tasks],
  ["writes in their plans", total.items],
  ["plans whose writes are the data set's", total.gold],
  ["rehearsals that left the database as it was", total.unchanged],
  ["applied, and ended on the data set's state", total.applied],
  ["writes that a plan was unsure about (none depends on another)", total.unsure],
  ["tasks with drift", total.drifted],
  ["writes of theirs before the drift, all made", total.before],
  ["stopped before any further write", total.caught],
]);
console.log(table);
for (const line of wrong.slice(0, 20)) console.log(line);
writeSection({
  page: "plans.md",
  intro: `# Plans against known writes

Each task of tau-retail as a program that takes the numbers of its orders from the orders as it reads them: rehearsed, its plan
approved and applied. For drift an order gets another number after the plan was approved, so that the program means another
one: the run has to stop there, with what came before made and nothing after.`,
  section: "tau-retail",
  text: `${measured("node checks/full/plans.mjs")}\n\n${table}`,
});
if (wrong.length > 0 || total.caught !== total.drifted || total.drifted < drifts) process.exitCode = 1;
