// A week of one program: three expenses, three people who approve, one rejection, a process that dies when the money has
// left, and a rollback on Friday. Every day is a process of its own; only the journal and the bank's books last.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCallgate, keepingApprover, systemClock } from "callgate";
import type { Clock, Gate, RunResult } from "callgate";
import { openBank } from "./bank.ts";

const program = `
  const start = Date.now();
  const expenses = [
    { expense: "train to Lyon", cents: 8400 },
    { expense: "hotel", cents: 21000 },
    { expense: "dinner for twelve", cents: 96000 },
  ];
  const paid: string[] = [];
  const refused: string[] = [];
  for (const one of expenses) {
    try {
      paid.push((await tools.bank.pay(one)).expense);
    } catch (error) {
      if (error.code !== "DENIED") throw error;
      refused.push(one.expense);
    }
  }
  await sleep(24 * 3_600_000); // the bank books overnight
  return { paid, refused, daysTaken: Math.round((Date.now() - start) / 86_400_000) };
`;

const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"] as const;
type Day = (typeof days)[number];

/** The host's clock, so many days later. */
function clockOf(day: Day): Clock {
  const host = systemClock();
  return { ...host, now: () => host.now() + days.indexOf(day) * 86_400_000 };
}

async function withGate<Result>(folder: string, day: Day, work: (gate: Gate) => Promise<Result>): Promise<Result> {
  const bank = openBank(join(folder, "bank.json"), day === "Wednesday");
  const gate = await createCallgate({ tools: { bank: bank.tools }, rules: [{ ask: "bank.pay" }], approver: keepingApprover(), clock: clockOf(day), stateFolder: join(folder, "state"), suspendAfterMs: 200 });
  try {
    return await work(gate);
  } finally {
    await gate.close();
  }
}

/** Answers the one question that is open, and goes on with the run. */
async function answer(gate: Gate, by: string, approved: boolean): Promise<RunResult> {
  const [pending] = await gate.approvals.list();
  assert.ok(pending, "a question is open");
  console.log(`  ${by} ${approved ? "approves" : "refuses"} ${JSON.stringify(pending.question.argsSummary)}`);
  await gate.approvals.answer(pending.question.approvalId, { approved, by, ...(approved ? {} : { reason: "twelve guests, no customer among them" }) });
  return await gate.runs.resume(pending.question.runId);
}

async function theOnlyRun(gate: Gate): Promise<string> {
  const [run] = await gate.runs.list();
  assert.ok(run);
  return run.runId;
}

const scenes: Readonly<Record<Day, (gate: Gate) => Promise<void>>> = {
  async Monday(gate) {
    const { status, diagnostics } = await gate.run(program);
    assert.equal(status, "suspended", JSON.stringify(diagnostics));
    console.log("  The program asks for its first payment and is suspended. Nothing runs.");
  },
  async Tuesday(gate) {
    assert.equal((await answer(gate, "Olivia", true)).status, "suspended");
    console.log("  The first payment was made; the second asks.");
  },
  async Wednesday(gate) {
    // The process dies in here.
    await answer(gate, "Peter", true);
    assert.fail("it should be dead by now");
  },
  async Thursday(gate) {
    const { status } = await gate.runs.resume(await theOnlyRun(gate));
    assert.equal(status, "suspended");
    console.log("  Another process took the run over. The bank was asked whether the second payment happened: it did.");
    assert.equal((await answer(gate, "Quinn", false)).status, "suspended");
    console.log("  The program now sleeps until the bank has booked.");
  },
  async Friday(gate) {
    const runId = await theOnlyRun(gate);
    const result = await gate.runs.resume(runId);
    assert.equal(result.status, "completed");
    assert.deepEqual(result.value?.kind === "whole" && result.value.value, { paid: ["train to Lyon", "hotel"], refused: ["dinner for twelve"], daysTaken: 4 });
    console.log(`  The program ends: ${JSON.stringify(result.value?.kind === "whole" ? result.value.value : undefined)}`);
    const undone = await gate.runs.rollback(runId);
    console.log(`  The trip was cancelled after all: rolling back asks, ${undone.compensation?.remaining.length ?? 0} payments wait for approval.`);
    for (const _payment of ["hotel", "train to Lyon"]) {
      const [pending] = await gate.approvals.list();
      assert.ok(pending);
      assert.equal(typeof pending.question.undoes, "number", "it asks to undo a payment, not to pay again");
      console.log(`  Olivia approves taking back ${JSON.stringify(pending.question.argsSummary)}`);
      await gate.approvals.answer(pending.question.approvalId, { approved: true, by: "Olivia" });
      await gate.runs.rollback(runId);
    }
  },
};

const [day, given] = process.argv.slice(2);
if (day !== undefined && given !== undefined) {
  const today = days.find((one) => one === day);
  assert.ok(today);
  await withGate(given, today, scenes[today]);
} else {
  const folder = mkdtempSync(join(tmpdir(), "expense-week-"));
  try {
    for (const one of days) {
      console.log(one);
      const { status, signal } = spawnSync(process.execPath, [import.meta.filename, one, folder], { stdio: ["ignore", "inherit", "inherit"] });
      if (one === "Wednesday") {
        assert.equal(signal, "SIGKILL");
        console.log("  The process dies when the money has left and nobody was told.");
      } else assert.equal(status, 0, `${one} failed`);
    }
    const { bookings } = openBank(join(folder, "bank.json"), false);
    console.log("The bank's books:");
    for (const { expense, cents, kind } of bookings) console.log(`  ${kind.padEnd(10)} ${expense}, ${(cents / 100).toFixed(2)}`);
    assert.deepEqual(bookings.map(({ expense, kind }) => `${kind} ${expense}`), ["paid train to Lyon", "paid hotel", "taken back hotel", "taken back train to Lyon"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
