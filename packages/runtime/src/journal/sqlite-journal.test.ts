import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testJournal, virtualClock } from "@callgate/testkit";
import type { JournalStore } from "@callgate/testkit";
import { createMasterKey } from "../secrets/master-key.ts";
import { createFileBlobs } from "./file-blobs.ts";
import { createSqliteJournal } from "./sqlite-journal.ts";

async function createStore(): Promise<JournalStore> {
  const folder = await mkdtemp(join(tmpdir(), "callgate-journal-"));
  const blobs = createFileBlobs({ folder: join(folder, "blobs") });
  const masterKey = createMasterKey(Buffer.alloc(32, 7));
  const clock = virtualClock();
  return {
    blobs,
    open: () => createSqliteJournal({ path: join(folder, "journal.db"), blobs, masterKey, clock }),
    async bytes() {
      const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile() && !entry.name.endsWith("-shm"));
      return Buffer.concat(await Promise.all(names.map((entry) => readFile(join(entry.parentPath, entry.name)))));
    },
    dispose: () => rm(folder, { recursive: true }),
  };
}

testJournal("sqlite", createStore);
