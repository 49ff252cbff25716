// A second process for the suite: `node journal-child.ts <module> <argument> <scenario> <run id> [<word>]`. `module` exports
// `openJournal(argument)`. It says one word a line on stdout when it has got somewhere. At `word` it stays until it is killed.

import { setTimeout as sleep } from "node:timers/promises";
import type { Journal } from "@callgate/contract";
import { ended, issued, leaseOf, printed, sampleFinish, sampleRun } from "./journal-samples.ts";

interface JournalModule {
  openJournal(argument: string): Promise<Journal>;
}

function say(word: string): void {
  process.stdout.write(`${word}\n`);
}

/** Says where it has got, and stays there when that is where it is to be killed. */
async function reach(word: string): Promise<void> {
  say(word);
  if (word === stopAt) await sleep(60_000);
}

/** A run with one write: every word is a place to be killed at. */
async function oneWrite(journal: Journal, runId: string): Promise<void> {
  await journal.begin(sampleRun(runId));
  await reach("begun");
  await journal.append(leaseOf(runId), [issued(0, { effect: "write" })], "full");
  await reach("issued");
  await journal.append(leaseOf(runId), [ended(0)], "lazy");
  await reach("ended");
  await journal.finish(leaseOf(runId), sampleFinish());
  await reach("finished");
}

/** Appends as fast as it can and says each number that was written. */
async function stream(journal: Journal, runId: string): Promise<void> {
  await journal.begin(sampleRun(runId));
  for (let seq = 0; seq < 100_000; seq += 1) {
    await journal.append(leaseOf(runId), [issued(seq), printed(String(seq)), ended(seq)], seq % 10 === 0 ? "full" : "lazy");
    say(String(seq));
  }
}

/** 200 entries in a run of its own, then the end. */
async function many(journal: Journal, runId: string): Promise<void> {
  await journal.begin(sampleRun(runId));
  for (let seq = 0; seq < 100; seq += 1) await journal.append(leaseOf(runId), [issued(seq), ended(seq)], seq % 4 === 0 ? "full" : "lazy");
  await journal.finish(leaseOf(runId), sampleFinish());
  await journal.close();
  say("closed");
}

/** Once another process is there as well, ten calls in each of six runs that a budget of 50 means; says how many it had room for. */
async function spend(journal: Journal, runId: string): Promise<void> {
  // Of one run one call after the other takes from a budget.
  const leases = await Promise.all(Array.from({ length: 6 }, (_, index) => journal.begin(sampleRun(`${runId}${index}`))));
  while ((await journal.listRuns({ tenant: "acme" })).length < 12) await sleep(5);
  const counters = [{ budgetId: "shared", key: "alice", window: "day", ofRun: false, limits: { calls: 50 } }] as const;
  const amounts = { calls: 1, bytes: 0, durationMs: 0, tokens: 0, microUsd: 0 };
  const answers = await Promise.all(leases.flatMap((lease) => Array.from({ length: 10 }, (_, call) => journal.reserveBudgets(lease, { tenant: "acme", callId: `${lease.runId}.${call}`, amounts, counters, again: false }))));
  await journal.close();
  say(String(answers.filter(({ kind }) => kind === "reserved").length));
}

const scenarios = { oneWrite, stream, many, spend };

const [, , moduleUrl = "", argument = "", scenario = "", runId = "", stopAt = ""] = process.argv;
const opening = (await import(moduleUrl)) as JournalModule;
await scenarios[scenario as keyof typeof scenarios](await opening.openJournal(argument), runId);
