import { defineConfig } from "vitest/config";

const folders = ["packages", "checks", "examples"];
/** Need a process, a port or an engine. */
const integration = folders.map((folder) => `${folder}/**/*.int.test.ts`);

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // On a machine shared with other work a test of real processes and deadlines can lose a race that is not ours. In CI it
    // gets a second try, and the report names it as flaky; at a desk it fails at once.
    retry: process.env.CI === undefined ? 0 : 1,
    projects: [
      // No module of ours has state, so files share a process: loading the compiler anew for each took a fifth of the time.
      { extends: true, test: { name: "unit", include: folders.map((folder) => `${folder}/**/*.test.ts`), exclude: ["**/node_modules/**", ...integration], isolate: false } },
      { extends: true, test: { name: "integration", include: integration } },
    ],
  },
});
