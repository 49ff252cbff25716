// Everything that holds a process sandbox to its word, in Docker and in Podman: the suite of drivers in Python, Node and shell,
// every hostile program, and the code executor. An engine of its own is started, as root, in a temporary folder; .ci/run tries a part of it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, "run", "--no-file-parallelism", "packages/sandbox-process/src/launcher/container", "packages/sandbox-process/src/artifacts.int.test.ts", "packages/sandbox-process/src/mounts", "packages/callgate/src/executor/executor-containers.int.test.ts"], {
  cwd: fileURLToPath(new URL("../..", import.meta.url)),
  env: { ...process.env, CALLGATE_CONTAINERS: "all" },
  stdio: "inherit",
});
process.exitCode = status ?? 1;
