import { expect, test } from "vitest";
import { branchRuns } from "./fixtures/branch-runs.ts";

/** `checks/full/branches.mjs` does 500. */
const runs = 24;

test("code-mode 8: many runs of two parallel branches of two same-named calls, killed in their middle and taken over, get their own answers; without the recorded order they do not", { timeout: 300_000 }, async () => {
  const taken = await branchRuns(runs);
  expect(taken).toMatchObject({ runs, interrupted: runs, wrong: 0 });
  expect(taken.wrongWithoutOrder).toBeGreaterThan(0);
});
