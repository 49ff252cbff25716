import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testJournal } from "@callgate/testkit";
import type { JournalStore } from "@callgate/testkit";
import { createFileBlobs } from "./file-blobs.ts";
import { openJournal } from "./fixtures/open-journal.ts";

async function createStore(): Promise<JournalStore> {
  const folder = await mkdtemp(join(tmpdir(), "callgate-journal-"));
  const blobs = createFileBlobs({ folder: join(folder, "blobs") });
  return {
    blobs,
    open: () => openJournal(folder),
    async bytes() {
      const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile() && !entry.name.endsWith("-shm"));
      return Buffer.concat(await Promise.all(names.map((entry) => readFile(join(entry.parentPath, entry.name)))));
    },
    child: { moduleUrl: new URL("./fixtures/open-journal.ts", import.meta.url).href, argument: folder },
    dispose: () => rm(folder, { recursive: true }),
  };
}

testJournal("sqlite", createStore);
