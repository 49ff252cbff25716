// A thousand runs of an agent in one process, and a thousand more that are aborted at any moment: nothing is left of them, and
// every call of a model has exactly one result. `node checks/full/agent-soak.mjs`
import { spawnSync } from "node:child_process";

const { status } = spawnSync("npx", ["vitest", "run", "packages/agent/src/soak.int.test.ts"], { stdio: "inherit", env: { ...process.env, CALLGATE_SOAK_RUNS: "1000", NODE_OPTIONS: "--expose-gc" } });
process.exitCode = status ?? 1;
