import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { testJournal } from "@callgate/testkit";
import { vi } from "vitest";
import type { JournalStore, StoreColumn } from "@callgate/testkit";
import { runSpan } from "./entry-rows.ts";
import { createFileBlobs } from "./file-blobs.ts";
import { openJournal } from "./fixtures/open-journal.ts";

async function createStore(): Promise<JournalStore> {
  return storeIn(await mkdtemp(join(tmpdir(), "callgate-journal-")));
}

/** Notes the connections that are used while `work` opens a journal. */
async function noting<T>(used: Set<DatabaseSync>, work: () => Promise<T>): Promise<T> {
  const spy = vi.spyOn(DatabaseSync.prototype, "prepare");
  try {
    return await work();
  } finally {
    for (const database of spy.mock.contexts) used.add(database as DatabaseSync);
    spy.mockRestore();
  }
}

function storeIn(folder: string): JournalStore {
  const blobs = createFileBlobs({ folder: join(folder, "blobs") });
  const opened = new Set<DatabaseSync>();
  return {
    blobs,
    open: (clock, keyByte) => noting(opened, () => openJournal(folder, {}, clock, keyByte)),
    faults: {
      async fillDisk() {
        // No page more than there are: the same SQLITE_FULL as of a disk without room.
        for (const database of opened) if (database.isOpen) database.exec(`pragma max_page_count = 1`);
        return async () => {
          for (const database of opened) if (database.isOpen) database.exec("pragma max_page_count = 1000000");
          await Promise.resolve();
        };
      },
    },
    async bytes() {
      const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile() && !entry.name.endsWith("-shm"));
      return Buffer.concat(await Promise.all(names.map((entry) => readFile(join(entry.parentPath, entry.name)))));
    },
    async edit(statement) {
      const database = new DatabaseSync(join(folder, "journal.db"), { timeout: 5_000 });
      try {
        database.exec(statement);
      } finally {
        database.close();
      }
    },
    async columns() {
      const database = new DatabaseSync(join(folder, "journal.db"));
      const rows = database.prepare(`select t.name as "table", c.name, c.type from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table' and t.name not like 'sqlite%'`).all();
      database.close();
      return await Promise.resolve(rows as unknown as StoreColumn[]);
    },
    rowAt: (runId, position) => `entry_id = (select run_no from runs where run_id = '${runId}') * ${runSpan} + ${position}`,
    async copy() {
      const copied = await mkdtemp(join(tmpdir(), "callgate-journal-"));
      const database = new DatabaseSync(join(folder, "journal.db"));
      await backup(database, join(copied, "journal.db"));
      database.close();
      if (existsSync(join(folder, "blobs"))) await cp(join(folder, "blobs"), join(copied, "blobs"), { recursive: true });
      return storeIn(copied);
    },
    child: { moduleUrl: new URL("./fixtures/open-journal.ts", import.meta.url).href, argument: folder },
    dispose: () => rm(folder, { recursive: true }),
  };
}

testJournal("sqlite", createStore);
