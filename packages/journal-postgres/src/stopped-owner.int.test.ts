import { onTestFinished, test } from "vitest";
import { expectStoppedOwnerDoesNothing } from "../../runtime/src/run/fixtures/stopped-owner.ts";
import { openJournal } from "./fixtures/open-journal.ts";
import { missingPostgres, startPostgres } from "./fixtures/private-postgres.ts";

const missing = missingPostgres();

test.skipIf(missing !== undefined)(`br-033: a stopped owner that wakes after losing its lease writes nothing and repeats no keyed effect (SIGSTOP, SIGCONT)${missing === undefined ? "" : ` (skipped: ${missing})`}`, { timeout: 240_000 }, async () => {
  const server = await startPostgres({ fsync: false });
  onTestFinished(() => server.stop());
  const url = await server.createDatabase("stopped");
  await expectStoppedOwnerDoesNothing(() => openJournal(url), url);
});
