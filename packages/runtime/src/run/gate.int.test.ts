import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("code-mode 5: the process of a closed gate ends by itself, and a run that was under way was cancelled", async () => {
  const script = fileURLToPath(new URL("fixtures/run-and-exit.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 60_000 });
  expect(stdout).toBe("completed cancelled\n");
});
