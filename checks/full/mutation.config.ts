// What Stryker runs against each mutant (checks/full/mutation.mjs): the unit tests beside what decides, from a copy of the
// sources. Tests of Cedar policies only where one of those is changed: loading Cedar is most of what a test run takes.
import { defineConfig } from "vitest/config";

const folders = ["packages/runtime/src/{broker,approval,policy}", ...(process.env["MUTATION_CEDAR"] === undefined ? [] : ["packages/policy-cedar/src"])];

export default defineConfig({
  test: {
    include: folders.map((folder) => `${folder}/**/*.test.ts`),
    exclude: ["**/node_modules/**", "**/*.int.test.ts"],
    // As in the tests' own configuration: no module of ours has state. A process for each file is most of the time.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
