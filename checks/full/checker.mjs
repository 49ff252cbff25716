// Guards what .ci/run has no time for: that the checker's memory stays bounded over 3,000 checks, and that 20,000 disturbed
// programs neither hang nor crash it. The same tests as in the suite, at full length.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";

execFileSync(resolve("node_modules/.bin/vitest"), ["run", "packages/check-typescript", "--testTimeout", "900000"], {
  stdio: "inherit",
  env: { ...process.env, CALLGATE_CHECKS: "3000", CALLGATE_FUZZ_RUNS: "20000" },
});
