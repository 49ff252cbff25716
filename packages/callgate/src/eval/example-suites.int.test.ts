import { globSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { proveSuite, runSuite, scriptedSubject } from "@callgate/eval";
import type { EvalSuite } from "@callgate/eval";
import { isWholeRun } from "@callgate/testkit";
import { createEvalGates } from "./eval-gates.ts";
import { loadSuite } from "./load-suite.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
/** The whole jobs; docs/guide/agent.md names them. */
const jobs = ["main-job", "backfill-records", "find-the-fault", "weekly-report", "reviewed-content", "data-analysis"];
/** Whatever folder of examples has a suite: its scripts pass it, and nothing passes it without the work. */
const files = globSync("examples/*/suite.yaml", { cwd: root }).map((file) => `${root}${file}`);
const gates = createEvalGates();
afterAll(() => gates[Symbol.asyncDispose]());

const how = (suite: EvalSuite) => ({ suite, concurrency: 2, openGate: (options: never, stateFolder: string) => gates.open(options, stateFolder) });

/** Every third case, for each takes seconds; whole runs, and `callgate eval`, take them all. */
const sampled = ({ cases }: EvalSuite): readonly string[] => cases.filter((_, index) => isWholeRun || index % 3 === 0).map(({ id }) => id);

describe("suites of the examples", { timeout: 600_000 }, () => {
  let cases = 0;
  const kinds = new Set<string>();

  test.each(files.map((file) => [basename(dirname(file)), file] as const))("%s: every case passes by its script, and fails without it", async (name, file) => {
    const suite = await loadSuite(file);
    if (jobs.includes(name)) {
      cases += suite.cases.length;
      for (const { kind } of suite.cases) kinds.add(kind);
    }
    const report = await runSuite({ ...how(suite), only: sampled(suite), subject: scriptedSubject() });
    // Only what a sandbox of this machine runs may be missing; the report says what.
    const isThere = (status: string): boolean => status === "passed" || (name === "data-analysis" && status === "skipped");
    expect(report.cases.flatMap(({ id, status, reason, attempts }) => (isThere(status) ? [] : [{ id, status, reason, failures: attempts.flatMap(({ failures }) => failures) }]))).toEqual([]);
    // That nothing done passes nothing is judged in every run; wrong works, and worlds that move by themselves, only here.
    const proven = sampled(suite).filter((id, index) => isWholeRun || index === 0 || suite.cases.some((one) => one.id === id && one.mustFail.length > 0));
    const proofs = await proveSuite({ ...how(suite), only: proven });
    expect(proofs.filter(({ holds, missing }) => !holds && missing === undefined)).toEqual([]);
  });

  test("the whole jobs have at least 60 cases, of every kind", () => {
    expect(cases).toBeGreaterThanOrEqual(60);
    expect([...kinds].sort()).toEqual(["abnormal-parameters", "adversarial", "duplicate-submission", "injection", "large-result", "normal-flow", "permission-failure", "timeout", "upstream-failure"]);
  });
});
