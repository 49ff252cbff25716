import { CallgateError } from "@callgate/contract";
import type { Grant, Journal, RunSignal, RunWait } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import type { JournalStore, StoreColumn } from "./journal-store.ts";
import { digestText, ended, entriesOfEveryKind, issued, recorded, sampleFinish, sampleRun } from "./journal-samples.ts";
import { LEASE_MS, START_MS } from "./two-owners.ts";
import type { DurableSeams } from "./two-owners.ts";
import { pausedClock } from "./paused-clock.ts";
import type { PausedClock } from "./paused-clock.ts";
import { isWholeRun } from "../whole-run.ts";

const waits: readonly RunWait[] = [
  { kind: "approval", seq: 1, question: { approvalId: "apr_1", runId: "waiting", callId: "waiting.1" } as never },
  { kind: "timer", seq: 2, untilMs: START_MS + 10 },
  { kind: "event", seq: 3, name: "later", occurrence: 0 },
  { kind: "job", seq: 4, callId: "waiting.4", tool: "ci.build", token: 1, untilMs: START_MS + 10 },
  { kind: "resolution", seq: 5, callId: "waiting.5", attempt: 0, tool: "crm.update", argsSummary: null },
];

const signals: readonly RunSignal[] = [
  { kind: "event", name: "go", id: "1", payload: recorded({ go: true }), by: "ann", atMs: START_MS },
  { kind: "approval", approvalId: "apr_0", approved: true, by: "ann", reason: "fine", atMs: START_MS },
  { kind: "job", callId: "waiting.7", result: { kind: "value", value: recorded(7) }, by: "ann", atMs: START_MS },
  { kind: "resolution", callId: "waiting.8", attempt: 0, happened: true, by: "ann", atMs: START_MS },
];

const grant: Grant = { grantId: "grt_1", tenant: "acme", tool: "crm.pay", args: { kind: "tests", tests: { "/amount": { lte: 100 } } }, user: "alice", agent: "assistant", maxUses: 3, expiresAtMs: START_MS + 86_400_000, by: "carol", givenAtMs: START_MS, definitions: { "crm.pay": "sha256:1" } };
const key = (name: string, seq = 0) => ({ tenant: "acme", idempotencyKey: name, seq, callId: `c${seq}`, argsDigest: digestText("a") });
const spent = { calls: 1, bytes: 2, durationMs: 3, tokens: 4, microUsd: 5 };
const budget = { tenant: "acme", amounts: spent, counters: [{ budgetId: "daily", key: "alice", window: "day" as const, ofRun: false, limits: { calls: 1_000_000 } }], again: false };

/** A record in which every table has rows: runs that are under way, wait, have ended, and were removed. */
async function recordEverything(journal: Journal): Promise<void> {
  const removed = await journal.begin(sampleRun("removed"));
  await journal.reserveEffect(removed, key("removed"));
  await journal.append(removed, [issued(0), ended(0)], "full");
  await journal.finish(removed, sampleFinish({ endedAtMs: START_MS }));
  await journal.prune({ olderThanMs: START_MS + 1, by: "carol" });
  const failed = await journal.begin(sampleRun("ended"));
  await journal.append(failed, entriesOfEveryKind(), "full");
  await journal.finish(failed, sampleFinish({ status: "failed", error: { code: "TOOL_FAILED", message: "no", tool: "crm.get", retryable: false } }));
  const waiting = await journal.begin(sampleRun("waiting"), { leaseMs: LEASE_MS });
  await journal.append(waiting, [issued(0)], "full");
  await journal.suspend(waiting, { atMs: START_MS, waits, wakeAtMs: START_MS + 86_400_000 });
  for (const signal of signals) await journal.signal("acme", "waiting", signal);
  const open = await journal.begin(sampleRun("open"), { leaseMs: LEASE_MS });
  await journal.reserveEffect(open, key("open"));
  await journal.append(open, [issued(0), ended(0)], "full");
  await journal.reserveBudgets(open, { ...budget, callId: "open.0" });
  await journal.addTaint("acme", [{ kind: "run", user: "", id: "open" }], [{ label: "private", tool: "mail.read", runId: "open", seq: 0, atMs: START_MS }]);
  await journal.grants.give(grant);
  await journal.grants.use(open, { tenant: "acme", grantId: "grt_1", callId: "open.0", maxUses: 3, expiresAtMs: START_MS + 86_400_000 });
  await journal.audit.hold({ tenant: "acme", covers: { runId: "ended" }, reason: "case 7", by: "carol" });
  await journal.begin(sampleRun("other"), { leaseMs: LEASE_MS });
}

const other = { runId: "other", epoch: 1 };
const runIds = ["ended", "waiting", "open", "other"];
const readRuns = (journal: Journal) => runIds.map((runId) => journal.readRun("acme", runId));
const listRuns = (journal: Journal) => ([undefined, "running", "suspended", "failed", "crashed"] as const).map((status) => journal.listRuns({ tenant: "acme", ...(status === undefined ? {} : { status }) }));
const readEntries = (journal: Journal) => runIds.map((runId) => journal.readEntries("acme", runId, { clear: true }));
const readSignals = (journal: Journal) => [journal.readSignals("acme", "waiting", { clear: true })];
const reserve = (journal: Journal) => ["open", "removed"].map((name) => journal.reserveEffect(other, key(name, 9)));
const budgets = (journal: Journal) => [journal.readBudgets("acme"), journal.reserveBudgets(other, { ...budget, callId: "other.0" })];
const verify = (journal: Journal) => [journal.audit.verify()];

/** What is done with each table. A table that is not among them is read by nobody, or only when somebody dies. */
const uses: Readonly<Record<string, readonly ((journal: Journal) => readonly Promise<unknown>[])[]>> = {
  runs: [readRuns, listRuns, readEntries, verify, (journal) => signals.map((signal) => journal.signal("acme", "waiting", signal))],
  run_keys: [readRuns, readEntries, verify],
  owners: [readRuns, listRuns],
  entries: [readEntries, reserve, verify, (journal) => [journal.readResult("acme", "ended", 1), ...runIds.map((runId) => journal.readEntries("acme", runId))]],
  signals: [readSignals, verify],
  effects: [reserve],
  budget_counts: [budgets],
  budget_reservations: [budgets],
  taints: [(journal) => [journal.readTaint("acme", [{ kind: "run", user: "", id: "open" }])]],
  grants: [(journal) => [journal.grants.list("acme")], verify],
  grant_uses: [(journal) => [journal.grants.list("acme")], verify],
  holds: [(journal) => [journal.audit.holds("acme")], verify],
  ledger: [verify],
};

/** Columns that are parsed. A whole run tries all others as well, and these with more. */
const holdsJson = ["head", "finish", "waits", "body", "settled", "places", "amounts"];

/** What a person can do something about. The rest is as if there were no such thing. */
const told: readonly string[] = ["JOURNAL_CORRUPT", "JOURNAL_KEY_LOST", "RUN_NOT_FOUND", "RUN_FENCED", "SIGNAL_LIMIT"];

function garbageFor({ name, type }: StoreColumn): readonly string[] {
  if (/text|char/i.test(type) && !holdsJson.includes(name)) return ["'garbage'", "null"];
  if (!isWholeRun) return ["'garbage'", "'null'", "'[{}]'"];
  if (/text|char/i.test(type)) return ["'garbage'", "''", "'{}'", "'[]'", "'null'", "'7'", "'[{}]'", `'{"kind":"call-issued"}'`, "null"];
  if (/blob|bytea/i.test(type)) return [/bytea/i.test(type) ? "'\\x00ff'::bytea" : "x'00ff'", "null"];
  if (/bool/i.test(type)) return ["true", "false", "null"];
  return ["-1", "4000000000000", "null"];
}

/** A column set to something else, in every row, until the returned function is called; undefined where the store refuses it. */
async function damage(store: JournalStore, { table, name }: StoreColumn, value: string): Promise<(() => Promise<void>) | undefined> {
  try {
    await store.edit(`update ${table} set ${name} = ${value} where ${name} is not null`);
  } catch {
    return undefined;
  }
  // With another key somebody may have taken a row anew meanwhile.
  const added = ["effects", "budget_counts", "budget_reservations"].includes(table) ? `delete from ${table} where kept_row is null; ` : "";
  return () => store.edit(`${added}update ${table} set ${name} = kept_${name}`);
}

/** What a record that was damaged or changed behind the journal's back makes of those who use it. */
export function damageSuite({ setUp, openAgain }: DurableSeams): void {
  async function made(): Promise<{ readonly clock: PausedClock; readonly store: JournalStore; readonly journal: Journal }> {
    const clock = pausedClock(START_MS);
    const { store, journal } = await setUp(clock);
    await recordEverything(journal);
    return { clock, store, journal };
  }

  describe("a damaged record", () => {
    test("br-031: whatever stands in whatever column, it is refused by name: no reader falls over it, and nothing else comes of it than a code that says what to do", { timeout: 300_000 }, async () => {
      const { store, journal } = await made();
      const columns = (await store.columns()).filter(({ table, name }) => uses[table] !== undefined && (isWholeRun || holdsJson.includes(name)));
      const use = (table: string) => Promise.allSettled((uses[table] ?? []).flatMap((one) => one(journal)));
      for (const table of Object.keys(uses)) expect((await use(table)).filter(({ status }) => status === "rejected")).toEqual([]);
      const tables = [...new Set(columns.map(({ table }) => table))];
      const keep = tables.map((table) => ({ table, kept: [{ name: "row", type: "integer", from: "1" }, ...columns.filter((column) => column.table === table).map(({ name, type }) => ({ name, type, from: name }))] }));
      await store.edit(keep.flatMap(({ table, kept }) => [...kept.map(({ name, type }) => `alter table ${table} add column kept_${name} ${type};`), `update ${table} set ${kept.map(({ name, from }) => `kept_${name} = ${from}`).join(", ")};`]).join("\n"));
      const wrong: string[] = [];
      for (const column of columns) {
        for (const value of garbageFor(column)) {
          const restore = await damage(store, column, value);
          if (restore === undefined) continue;
          for (const used of await use(column.table)) {
            const fault: unknown = used.status === "rejected" ? used.reason : undefined;
            if (fault !== undefined && !(CallgateError.is(fault) && told.includes(fault.code))) wrong.push(`${column.table}.${column.name} = ${value}: ${CallgateError.is(fault) ? fault.code : ""} ${fault instanceof Error ? fault.message : "no error"}`);
          }
          await restore();
        }
      }
      await store.edit(keep.flatMap(({ table, kept }) => kept.map(({ name }) => `alter table ${table} drop column kept_${name};`)).join("\n"));
      expect([...new Set(wrong)]).toEqual([]);
      expect((await journal.audit.verify()).ok).toBe(true);
    });

    const parts: readonly (readonly [column: string, runId: string, use: (journal: Journal) => Promise<unknown>])[] = [
      ["head", "waiting", (journal) => journal.readRun("acme", "waiting")],
      ["waits", "waiting", (journal) => journal.signal("acme", "waiting", { kind: "event", name: "later", id: "1", payload: recorded(1), by: "ann", atMs: START_MS })],
      ["finish", "ended", (journal) => journal.readRun("acme", "ended")],
    ];
    test.each(parts)("whose runs.%s is garbage is JOURNAL_CORRUPT, with the run and what to do", async (column, runId, use) => {
      const { store, journal } = await made();
      await store.edit(`update runs set ${column} = 'garbage' where run_id = '${runId}'`);
      await expect(use(journal)).rejects.toMatchObject({ code: "JOURNAL_CORRUPT", message: expect.stringMatching(new RegExp(`run ${runId}: its column ${column} .*Restore the journal from a backup`)) as string, details: { runId, column } });
    });

    test("keeps nobody from the other runs: a worker that cannot take the damaged one takes the next", async () => {
      const { clock, store, journal } = await made();
      await journal.close();
      clock.set(START_MS + 86_400_001);
      await store.edit("update runs set head = 'garbage' where run_id = 'waiting'");
      const worker = await openAgain(store, clock);
      const answers = new Set<string>();
      for (let look = 0; look < 4; look += 1) answers.add(await worker.claim({ leaseMs: LEASE_MS }).then((claimed) => claimed?.run.runId ?? "none", (fault: unknown) => (CallgateError.is(fault) ? fault.code : "a fault without a code")));
      expect(answers).toEqual(new Set(["JOURNAL_CORRUPT", "open", "other", "none"]));
    });
  });
}
