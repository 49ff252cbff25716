import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { testJournal } from "@callgate/testkit";
import type { JournalStore } from "@callgate/testkit";
import { runSpan } from "./entry-rows.ts";
import { createFileBlobs } from "./file-blobs.ts";
import { openJournal } from "./fixtures/open-journal.ts";

async function createStore(): Promise<JournalStore> {
  return storeIn(await mkdtemp(join(tmpdir(), "callgate-journal-")));
}

function storeIn(folder: string): JournalStore {
  const blobs = createFileBlobs({ folder: join(folder, "blobs") });
  return {
    blobs,
    open: (clock, keyByte) => openJournal(folder, {}, clock, keyByte),
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
