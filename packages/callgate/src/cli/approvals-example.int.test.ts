import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isWholeRun } from "@callgate/testkit";
import { expect, onTestFinished, test } from "vitest";
import { callgateBin, compiledCode } from "./fixtures/cli-project.ts";

// A story of many commands one after the other, each of which has a test of its own.
test.skipIf(!isWholeRun)("the story of examples/approvals ends as it says: two payments, one refused, a result withheld, all of it on record (whole runs only)", { timeout: 900_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-story-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [folder, bin, state] = [join(root, "approvals"), join(root, "bin"), join(root, "state")];
  cpSync(fileURLToPath(new URL("../../../../examples/approvals", import.meta.url)), folder, { recursive: true });
  for (const made of [bin, state]) mkdirSync(made);
  symlinkSync(callgateBin, join(bin, "callgate"));
  const env = { PATH: [bin, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter), HOME: root, ...compiledCode, XDG_CONFIG_HOME: join(root, "config"), STORY_STATE: state, NO_COLOR: "1", COLUMNS: "300" };
  const { status, stdout, stderr } = spawnSync("sh", [join(folder, "story.sh")], { env, encoding: "utf8" });
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  expect(readFileSync(join(state, "payments.txt"), "utf8")).toBe("bob 40\nbob 40\n");
  expect(stderr).toContain("That is not the passphrase of bea");
  const told = new Map(stdout.split("\n== ").map((part) => [part.split("\n", 1)[0] ?? "", part]));
  const part = (start: string): string => [...told].find(([title]) => title.startsWith(start))?.[1] ?? "";
  expect(part("Bea approves it")).toMatch(/completed\n$/);
  expect(part("Bea takes the grant back")).toContain("revoked");
  expect(part("So it asks again")).toMatch(/DENIED\n$/);
  expect(part("A long statement")).toMatch(/RESULT_WITHHELD\n$/);
  const record = part("What is on record");
  expect(record.match(/bank\.pay/g)?.length).toBeGreaterThanOrEqual(3);
  expect(record).toContain("bank.statement");
});
