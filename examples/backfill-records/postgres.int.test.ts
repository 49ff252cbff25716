import { afterAll, beforeAll, expect, test } from "vitest";
import { missingPostgres, startPostgres } from "../../packages/journal-postgres/src/fixtures/private-postgres.ts";
import type { PrivatePostgres } from "../../packages/journal-postgres/src/fixtures/private-postgres.ts";
import { runJob } from "../shared/run-job.ts";
import { createCrm } from "./crm.ts";
import { job } from "./job.ts";
import { truths } from "./records.ts";

const variable = "CALLGATE_EXAMPLE_POSTGRES";
const missing = missingPostgres();
let server: PrivatePostgres | undefined;
beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres({ fsync: false });
  process.env[variable] = await server.createDatabase("crm");
});
afterAll(async () => {
  delete process.env[variable];
  await server?.stop();
});

test("the customers may be in PostgreSQL: the same end state, a table of somebody else is left alone, and nothing stays", { timeout: 600_000 }, async ({ skip }) => {
  if (missing !== undefined) return skip(missing);
  const report = await runJob(job, { scale: "tiny" });
  if ("missing" in report) return skip(report.missing);
  expect({ stop: report.result.stop, unmet: report.checks.filter(({ ok }) => !ok), standsOn: report.standsOn }).toEqual({ stop: { kind: "answered" }, unmet: [], standsOn: expect.stringContaining("PostgreSQL") as string });
  const theirs = await createCrm("", truths(1));
  await expect(createCrm("", truths(1))).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining("has a table customers") as string });
  await theirs.close();
  const again = await createCrm("", truths(1));
  expect(await again.rows()).toHaveLength(1);
  await again.close();
});
