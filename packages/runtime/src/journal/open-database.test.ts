import { execFileSync } from "node:child_process";
import { chmod, chown, copyFile, mkdtemp, open, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { entriesOfEveryKind, issued, leaseOf, printed, sampleFinish, sampleRun, startJournalProcess } from "@callgate/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { openJournal } from "./fixtures/open-journal.ts";
import { applicationId, migrations } from "./schema.ts";

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "callgate-open-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder with a journal of one finished run in it, closed. */
async function recordedFolder(runs = 1): Promise<string> {
  const folder = await makeFolder();
  const journal = await openJournal(folder);
  for (let index = 0; index < runs; index += 1) {
    await journal.begin(sampleRun(`r${index}`));
    await journal.append(leaseOf(`r${index}`), [issued(0), printed("x".repeat(3000))], "lazy");
    await journal.finish(leaseOf(`r${index}`), sampleFinish());
  }
  await journal.close();
  return folder;
}

async function overwrite(path: string, offset: number, text: string): Promise<void> {
  const file = await open(path, "r+");
  await file.write(Buffer.from(text), 0, text.length, offset);
  await file.close();
}

/** Runs a shell line with a disk of 4 MiB mounted at `folder` (`$0`), in a mount namespace of its own. */
function onSmallDisk(folder: string, line: string): string {
  return execFileSync("unshare", ["-Urm", "sh", "-c", `mount -t tmpfs -o size=4m none "$0" && ${line}`, folder], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

function canMount(): boolean {
  try {
    onSmallDisk(tmpdir(), "true");
    return true;
  } catch {
    return false;
  }
}

function node(scenario: string): string {
  const script = fileURLToPath(new URL("./fixtures/small-disk.ts", import.meta.url));
  return `"${process.execPath}" --no-warnings "${script}" "$0" ${scenario}`;
}

describe("openDatabase", () => {
  test("makes folder and file, readable by their owner only", async () => {
    const folder = join(await makeFolder(), "a", "b");
    const journal = await openJournal(folder);
    await journal.begin(sampleRun("r1"));
    for (const name of ["journal.db", "journal.db-wal"]) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await journal.close();
  });

  test("keeps a file that is no database aside, says so, and begins a fresh journal", async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, "journal.db"), "these are not the bytes of a journal");
    const journal = await openJournal(folder);
    expect(journal.notices).toEqual([expect.stringMatching(/^The journal was damaged\. It was kept aside as journal\.db\.corrupt-\d{4}-/)]);
    await journal.begin(sampleRun("r1"));
    expect(await journal.listRuns({ tenant: "local" })).toEqual([]);
    expect(await journal.listRuns({ tenant: "acme" })).toHaveLength(1);
    await journal.close();
    const aside = (await readdir(folder)).find((name) => name.startsWith("journal.db.corrupt-") && !name.endsWith("-wal"));
    expect(await readFile(join(folder, aside ?? ""), "utf8")).toBe("these are not the bytes of a journal");
    expect((await openJournal(folder)).notices).toEqual([]);
  });

  test("a process that was killed while it kept a damaged journal aside stops no later one", async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, "journal.db"), "these are not the bytes of a journal");
    const mark = join(folder, "journal.db.moving");
    await writeFile(mark, "");
    await expect(openJournal(folder)).rejects.toMatchObject({ code: "JOURNAL_CORRUPT" });
    await utimes(mark, 0, 0);
    expect((await openJournal(folder)).notices).toEqual([expect.stringContaining("It was kept aside")]);
    expect(await readdir(folder)).not.toContain("journal.db.moving");
  });

  test("keeps a truncated and a scribbled journal aside, of which the header is still good", async () => {
    for (const damage of ["truncate", "scribble"] as const) {
      const folder = await recordedFolder(40);
      const path = join(folder, "journal.db");
      if (damage === "truncate") {
        const file = await open(path, "r+");
        await file.truncate(4096 * 3 + 100);
        await file.close();
      } else {
        for (let page = 1; page < 12; page += 1) await overwrite(path, page * 4096, "\u00ff".repeat(2000));
      }
      const journal = await openJournal(folder);
      expect(journal.notices).toHaveLength(1);
      expect(await journal.listRuns({ tenant: "acme" })).toEqual([]);
      await journal.begin(sampleRun("fresh"));
      await journal.close();
    }
  });

  test("looks at every page after a process died, and keeps damage deep in the file aside", async () => {
    const folder = await recordedFolder(60);
    const child = startJournalProcess({ moduleUrl: new URL("./fixtures/open-journal.ts", import.meta.url).href, argument: folder }, { name: "stream" }, "s");
    await child.said("3");
    await child.kill("SIGKILL");
    (await openJournal(folder)).notices.forEach((notice) => expect.fail(notice)); // A death alone is no damage.
    const again = startJournalProcess({ moduleUrl: new URL("./fixtures/open-journal.ts", import.meta.url).href, argument: folder }, { name: "stream" }, "t");
    await again.said("3");
    await again.kill("SIGKILL");
    const pages = Math.floor((await stat(join(folder, "journal.db"))).size / 4096);
    for (let page = Math.floor(pages / 2); page < pages; page += 1) await overwrite(join(folder, "journal.db"), page * 4096, "\u00ff".repeat(2000));
    const journal = await openJournal(folder);
    expect(journal.notices).toHaveLength(1);
    await journal.close();
  });

  test("says that a journal was written by a newer Callgate, and leaves it as it is", async () => {
    const folder = await recordedFolder();
    const database = new DatabaseSync(join(folder, "journal.db"));
    database.exec(`pragma user_version = ${migrations.length + 1}`);
    database.close();
    await expect(openJournal(folder)).rejects.toMatchObject({ code: "JOURNAL_VERSION", message: expect.stringContaining("Update Callgate") });
    expect(await readdir(folder)).not.toContainEqual(expect.stringContaining("corrupt"));
  });

  test("does not write into a database of another program", async () => {
    const folder = await makeFolder();
    const database = new DatabaseSync(join(folder, "journal.db"));
    database.exec("create table theirs (a)");
    database.close();
    await expect(openJournal(folder)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE", message: expect.stringContaining("another program") });
  });

  test("applies migrations in order and marks the file as ours; the schema of each version is pinned", async () => {
    const folder = await recordedFolder();
    const database = new DatabaseSync(join(folder, "journal.db"));
    expect(database.prepare("pragma user_version").get()).toMatchObject({ user_version: 12 });
    expect(database.prepare("pragma application_id").get()).toMatchObject({ application_id: applicationId });
    const tables = database.prepare("select name from sqlite_schema where type in ('table', 'view') order by name").all();
    expect(tables.map((row) => row["name"])).toEqual(["blob_refs", "budget_counts", "budget_reservations", "calls", "effects", "entries", "grant_uses", "grants", "holds", "ledger", "owners", "runs", "signals", "taints"]);
    for (const table of ["runs", "entries", "blob_refs", "calls", "signals", "effects"]) {
      const columns = database.prepare(`select name from pragma_table_info('${table}')`).all();
      expect(columns.map((row) => row["name"])).toEqual(expect.arrayContaining(["tenant", "user_id"]));
    }
    database.close();
  });

  test("a journal of schema 1 is migrated: its runs read as before, and one that was lost can be claimed", async () => {
    const folder = await makeFolder();
    await copyFile(fileURLToPath(new URL("./fixtures/schema-1.db", import.meta.url)), join(folder, "journal.db"));
    const journal = await openJournal(folder);
    expect(journal.notices).toEqual([]);
    expect(await journal.readRun("acme", "done")).toMatchObject({ status: "completed", epoch: 1, waits: [], programText: sampleRun("done").programText });
    const kept = await journal.readEntries("acme", "done", { clear: true });
    expect(entriesOfEveryKind()).toEqual(expect.arrayContaining([...kept]));
    expect(kept).toHaveLength(20);
    expect(await journal.readRun("acme", "lost")).toMatchObject({ status: "crashed", callCount: 2 });
    const claimed = await journal.claim({ leaseMs: 1000 });
    expect(claimed).toMatchObject({ reason: "taken_over", lease: { runId: "lost", epoch: 2 }, run: { status: "running" } });
    await journal.append(leaseOf("lost", 2), [{ kind: "resumed", atMs: 1, epoch: 2, reason: "taken_over", changes: [] }], "full");
    await expect(journal.append(leaseOf("lost"), [issued(2)], "full")).rejects.toMatchObject({ code: "RUN_FENCED" });
    expect(await journal.reserveEffect(leaseOf("lost", 2), { tenant: "acme", idempotencyKey: "key-1", seq: 1, callId: "c1", argsDigest: "sha256:1" })).toEqual({ kind: "reserved" });
    await journal.close();
  });

  test("of several processes that make the journal at once none fails", async () => {
    const folder = await makeFolder();
    const journals = await Promise.all(Array.from({ length: 6 }, () => openJournal(folder)));
    await Promise.all(journals.map((journal, index) => journal.begin(sampleRun(`r${index}`))));
    expect(await journals[0]?.listRuns({ tenant: "acme" })).toHaveLength(6);
    for (const journal of journals) await journal.close();
  });

  test("names the process that keeps the journal locked, at opening and at writing, and works once it lets go", async () => {
    const folder = await recordedFolder();
    const journal = await openJournal(folder, { lockWaitMs: 120 });
    const holder = new DatabaseSync(join(folder, "journal.db"));
    holder.exec("begin immediate");
    const refused = expect(journal.begin(sampleRun("late"))).rejects.toMatchObject({
      code: "JOURNAL_LOCKED",
      message: expect.stringContaining(process.platform === "linux" ? `process ${process.pid} has kept` : "another process"),
    });
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 5);
    await refused;
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(2); // The event loop went on while it waited.
    holder.exec("rollback");
    await journal.begin(sampleRun("late"));
    holder.exec("begin immediate");
    const waits = journal.append(leaseOf("late"), [printed("x")], "full");
    setTimeout(() => holder.exec("commit"), 40);
    await waits;
    holder.close();
    await journal.close();
  });

  test("waits the whole time for a lock once, and a tenth of it for what comes after; once it was free, the whole time again", async () => {
    const folder = await recordedFolder();
    const journal = await openJournal(folder, { lockWaitMs: 1_000 });
    const holder = new DatabaseSync(join(folder, "journal.db"));
    const refusedAfter = async (): Promise<number> => {
      const startedMs = performance.now();
      await expect(journal.begin(sampleRun("late"))).rejects.toMatchObject({ code: "JOURNAL_LOCKED" });
      return performance.now() - startedMs;
    };
    holder.exec("begin immediate");
    const first = await refusedAfter();
    const later = [await refusedAfter(), await refusedAfter()];
    expect(first).toBeGreaterThanOrEqual(1_000);
    for (const ms of later) expect(ms).toBeLessThan(first);
    holder.exec("rollback");
    await journal.begin(sampleRun("late"));
    holder.exec("begin immediate");
    expect(await refusedAfter()).toBeGreaterThanOrEqual(1_000);
    holder.exec("rollback");
    holder.close();
    await journal.close();
  });

  test.skipIf(!canMount())("writes nothing of what finds the disk full, says so, and works again when space is back (skipped where a user may not mount a small disk)", async () => {
    const answer = JSON.parse(onSmallDisk(await makeFolder(), `${node("fill")}`)) as Record<string, unknown>;
    expect(answer["failure"]).toEqual({ code: "JOURNAL_UNAVAILABLE", message: expect.stringMatching(/^Cannot append to run r1: .*no space left.*Nothing of it was written/) });
    for (const refused of answer["refused"] as readonly unknown[]) expect(refused).toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    expect(answer["stateWhileFull"]).toEqual({ status: "running", signals: 0 });
    expect(answer["reservedAfter"]).toEqual({ kind: "reserved" });
    expect(answer["blob"]).toEqual({ code: "JOURNAL_UNAVAILABLE", message: expect.stringContaining("ENOSPC") });
    expect(answer["written"]).toBeGreaterThan(3);
    expect(answer["whileFull"]).toBe(Number(answer["written"]) * 3);
    expect(answer["after"]).toEqual({ code: "none", message: "" });
    expect(answer["entries"]).toBe(Number(answer["written"]) * 3 + 1);
    expect(answer["notices"]).toEqual([]);
  });

  test.skipIf(!canMount())("says that the disk is read-only, also for a journal that is there (skipped where a user may not mount a small disk)", async () => {
    const error = { code: "JOURNAL_UNAVAILABLE", message: expect.stringContaining("set another state folder") };
    expect(JSON.parse(onSmallDisk(await makeFolder(), `mount -o remount,ro "$0" && ${node("open")}`))).toEqual(error);
    expect(JSON.parse(onSmallDisk(await makeFolder(), `${node("record")} >/dev/null && mount -o remount,ro "$0" && ${node("open")}`))).toEqual(error);
  });

  test.skipIf(process.platform === "win32")("says that the folder is read-only (skipped on Windows, which has other permissions)", async () => {
    const folder = await makeFolder();
    await chmod(folder, 0o500);
    // For root nothing is read-only, so that this is tried as the user "nobody".
    const nobody = 65_534;
    if (process.getuid?.() === 0) await chown(folder, nobody, nobody);
    try {
      if (process.getuid?.() === 0) process.seteuid?.(nobody);
      await expect(openJournal(folder)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE", message: expect.stringContaining("Make the file and its folder writable") });
    } finally {
      if (process.getuid?.() === 0) process.seteuid?.(0);
      await chmod(folder, 0o700);
    }
  });

  test("says that the path cannot be written when its folder is a file", async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, "state"), "");
    await expect(openJournal(join(folder, "state"))).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE", message: expect.stringContaining("another state folder") });
  });
});
