import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/**/*.test.ts", "checks/**/*.test.ts", "examples/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // On a machine shared with other work a test of real processes and deadlines can lose a race that is not ours. In CI it
    // gets a second try, and the report names it as flaky; at a desk it fails at once.
    retry: process.env.CI === undefined ? 0 : 1,
  },
});
