import { test } from "vitest";
import { openJournal } from "../journal/fixtures/open-journal.ts";
import { expectStoppedOwnerDoesNothing } from "./fixtures/stopped-owner.ts";

test("br-033: a stopped owner that wakes after losing its lease writes nothing and repeats no keyed effect (SIGSTOP, SIGCONT)", { timeout: 120_000 }, async () => {
  await expectStoppedOwnerDoesNothing((folder) => openJournal(folder));
});
