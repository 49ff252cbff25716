import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

const folders = ["packages", "checks", "examples"];
/** Need a process, a port or an engine. */
const integration = folders.map((folder) => `${folder}/**/*.int.test.ts`);

// Test processes, their threads and the commands they start load the same code again and again: it is compiled once.
process.env.NODE_COMPILE_CACHE ??= resolve("node_modules/.cache/callgate-compiled");

const isCi = process.env.CI !== undefined;

export default defineConfig({
  test: {
    pool: "forks",
    // One more than the cores of a small machine: many tests wait for a deadline or a process.
    maxWorkers: 3,
    // What hangs ends with this. A machine that is shared may be five times as slow as a desk, so that it says nothing there.
    testTimeout: isCi ? 180_000 : 60_000,
    hookTimeout: isCi ? 180_000 : 60_000,
    // On a machine shared with other work a test of real processes and deadlines can lose a race that is not ours. In CI it
    // gets a second try, and the report names it as flaky; at a desk it fails at once.
    retry: isCi ? 1 : 0,
    // No module of ours has state, so files share a process, and Node itself loads what it can read: loading everything anew
    // for each file, by way of a bundler, took a fifth of the time.
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      { extends: true, test: { name: "unit", include: folders.map((folder) => `${folder}/**/*.test.ts`), exclude: ["**/node_modules/**", ...integration] } },
      { extends: true, test: { name: "integration", include: integration } },
    ],
  },
});
