import { expect, test } from "vitest";
import type { Journal, JournalEntry } from "@callgate/contract";
import type { JournalStore } from "./journal-store.ts";
import { BLOB_CHARS, digestText, ended, issued, leaseOf, printed, recorded, sampleFinish, sampleRun, withoutClear } from "./journal-samples.ts";

type SetUp = () => Promise<{ store: JournalStore; journal: Journal }>;

/** What an erase takes and what it leaves. */
export function eraseSuite(setUp: SetUp): void {
  const secret = "the-clear-secret-4711";

  async function recordSecret(journal: Journal, runId: string): Promise<readonly JournalEntry[]> {
    const error = { code: "NOT_FOUND", message: `no ${secret}`, tool: "crm.update", retryable: false, details: { secret } };
    const entries: readonly JournalEntry[] = [
      { kind: "checked", atMs: 1, ok: true, code: secret, diagnostics: [{ severity: "error", code: "TS1", message: secret, line: 1, column: 1, excerpt: secret }], repairs: [{ kind: "renamed", message: secret, line: 1, column: 2 }], durationMs: 1 },
      issued(0, { args: recorded({ secret }, { secret: "hash:0123456789abcdef" }) }),
      { kind: "call-decided", atMs: 1, seq: 0, decision: "ask", ruleId: "r", reason: secret },
      ended(0, { result: recorded(secret.repeat(20_000), "long text"), error }),
      { kind: "call-late", atMs: 1, seq: 0, effectStatus: "done", result: recorded(secret), error },
      { kind: "delivered", atMs: 1, ord: 0, seq: 1, call: { kind: "builtin", name: "search", argsDigest: digestText("q") }, answer: recorded(secret) },
      printed(secret),
      { kind: "text", atMs: 1, text: secret },
      { kind: "progress", atMs: 1, message: secret },
      { kind: "result", atMs: 1, number: 1, label: "value", value: recorded(secret) },
    ];
    await journal.begin(sampleRun(runId, { programText: `return "${secret}"` }));
    await journal.append(leaseOf(runId), entries, "full");
    await journal.finish(leaseOf(runId), sampleFinish({ status: "failed", error }));
    return entries;
  }

  test("keeps no clear value readable at rest: program, code, arguments, results, errors, console", async () => {
    const { journal, store } = await setUp();
    await recordSecret(journal, "r1");
    await journal.close();
    const bytes = await store.bytes();
    expect(bytes.includes("crm.update")).toBe(true); // The search does find what is in clear.
    expect(bytes.includes(secret)).toBe(false);
    expect(bytes.includes(Buffer.from(secret).toString("base64").slice(0, 20))).toBe(false);
  });

  test("erase takes the clear values of that run only; summaries, digests and codes stay", async () => {
    const { journal, store } = await setUp();
    const entries = await recordSecret(journal, "r1");
    await recordSecret(journal, "r2");
    await journal.erase("acme", "r1");
    const read = await journal.readEntries("acme", "r1", { clear: true });
    expect(JSON.stringify(read)).not.toContain(secret);
    expect(read.map((entry) => entry.kind)).toEqual(entries.map((entry) => entry.kind));
    expect(read[1]).toEqual(withoutClear(issued(0, { args: recorded({ secret }, { secret: "hash:0123456789abcdef" }) })));
    expect(read[3]).toMatchObject({ outcome: "ok", result: { summary: "long text" }, error: { code: "NOT_FOUND", tool: "crm.update" } });
    expect(await journal.readRun("acme", "r1")).toMatchObject({ status: "failed", programText: undefined, unreadable: "erased", error: { code: "NOT_FOUND" } });
    expect(await journal.readResult("acme", "r1", 1)).toMatchObject({ label: "value", value: { summary: "summary" } });
    expect((await journal.readResult("acme", "r1", 1))?.value.clear).toBeUndefined();
    expect(await journal.readEntries("acme", "r2", { clear: true })).toEqual(entries);
    expect(await journal.readRun("acme", "r2")).toMatchObject({ programText: `return "${secret}"` });
    expect((await store.bytes()).includes(secret)).toBe(false);
  });

  test("erase of an erased run is no error, and what is appended later is not kept in clear", async () => {
    const { journal } = await setUp();
    await journal.begin(sampleRun("r1"));
    await journal.erase("acme", "r1");
    await journal.erase("acme", "r1");
    await journal.append(leaseOf("r1"), [issued(0), ended(0, { result: recorded("x".repeat(BLOB_CHARS)) }), printed(secret)], "lazy");
    const read = await journal.readEntries("acme", "r1", { clear: true });
    expect(read.slice(0, 2)).toEqual([issued(0), ended(0, { result: recorded("x".repeat(BLOB_CHARS)) })].map(withoutClear));
    expect(JSON.stringify(read)).not.toContain(secret);
  });
}

/** What is removed when, and that the space of it comes back. */
export function pruneSuite(setUp: SetUp): void {
  const DAY = 86_400_000;

  async function begin(journal: Journal, runId: string, options: { readonly endedAtMs?: number; readonly chars?: number }): Promise<void> {
    await journal.begin(sampleRun(runId, { startedAtMs: (options.endedAtMs ?? 10) - 1 }));
    if (options.chars !== undefined) await journal.append(leaseOf(runId), [ended(0, { result: recorded("x".repeat(options.chars)) })], "lazy");
    if (options.endedAtMs !== undefined) await journal.finish(leaseOf(runId), sampleFinish({ endedAtMs: options.endedAtMs }));
  }

  const left = async (journal: Journal): Promise<string[]> => (await journal.listRuns({ tenant: "acme" })).map((run) => run.runId).sort();

  test("removes runs that ended before a time, whole, and never one that is running or suspended", async () => {
    const { journal } = await setUp();
    await begin(journal, "old", { endedAtMs: 10 * DAY, chars: 1000 });
    await begin(journal, "new", { endedAtMs: 95 * DAY });
    await begin(journal, "running", {});
    await begin(journal, "suspended", {});
    await journal.suspend(leaseOf("suspended"), { atMs: 10, waits: [] });
    expect(await journal.prune({ olderThanMs: 70 * DAY })).toMatchObject({ runs: 1 });
    expect(await left(journal)).toEqual(["new", "running", "suspended"]);
    expect(await journal.readEntries("acme", "old", { clear: true })).toEqual([]);
  });

  test("removes the oldest ended runs until it is below a size, and gives the space back", async () => {
    const { journal, store } = await setUp();
    for (let index = 0; index < 30; index += 1) await begin(journal, `r${String(index).padStart(2, "0")}`, { endedAtMs: 1000 + index, chars: 100_000 });
    const before = (await store.bytes()).length;
    const pruned = await journal.prune({ maxBytes: 1_500_000 });
    expect(pruned.runs).toBeGreaterThan(10);
    expect(pruned.runs).toBeLessThan(25);
    expect(pruned.bytes).toBeGreaterThan(1_000_000);
    expect(await left(journal)).toEqual(Array.from({ length: 30 - pruned.runs }, (_, index) => `r${String(index + pruned.runs).padStart(2, "0")}`));
    expect((await store.bytes()).length).toBeLessThan(before - 1_000_000);
  });

  test("removes the blobs of pruned and erased runs, and keeps one that another run still names", async () => {
    const { journal, store } = await setUp();
    const shared = { name: "plot.png", mimeType: "image/png", sizeBytes: 4, digest: await store.blobs.put("acme", Buffer.from("plot")) };
    const own = { name: "own.png", mimeType: "image/png", sizeBytes: 3, digest: await store.blobs.put("acme", Buffer.from("own")) };
    const third = { name: "third.png", mimeType: "image/png", sizeBytes: 5, digest: await store.blobs.put("acme", Buffer.from("third")) };
    await begin(journal, "old", {});
    await journal.append(leaseOf("old"), [ended(0, { artifacts: [shared, own], result: recorded("x".repeat(2 * BLOB_CHARS)) })], "lazy");
    await journal.finish(leaseOf("old"), sampleFinish({ endedAtMs: DAY }));
    await begin(journal, "new", {});
    await journal.append(leaseOf("new"), [ended(0, { artifacts: [shared, third] })], "lazy");
    await journal.finish(leaseOf("new"), sampleFinish({ endedAtMs: 99 * DAY }));
    await journal.prune({ olderThanMs: 70 * DAY });
    expect(await store.blobs.get("acme", own.digest)).toBeUndefined();
    expect(await store.blobs.get("acme", shared.digest)).toBeDefined();
    expect((await store.bytes()).length).toBeLessThan(2 * BLOB_CHARS);
    await journal.erase("acme", "new");
    expect(await store.blobs.get("acme", shared.digest)).toBeUndefined();
    expect(await store.blobs.get("acme", third.digest)).toBeUndefined();
  });
}
