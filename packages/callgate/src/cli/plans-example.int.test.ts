import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isWholeRun } from "@callgate/testkit";
import { expect, onTestFinished, test } from "vitest";
import { callgateBin } from "./fixtures/cli-project.ts";

// A story of many commands one after the other, each of which has a test of its own.
test.skipIf(!isWholeRun)("the story of examples/plans ends as it says: one order cancelled as edited, one left out, a letter asked about, drift stopped (whole runs only)", { timeout: 900_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-plans-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [folder, bin, state] = [join(root, "plans"), join(root, "bin"), join(root, "state")];
  cpSync(fileURLToPath(new URL("../../../../examples/plans", import.meta.url)), folder, { recursive: true });
  for (const made of [bin, state]) mkdirSync(made);
  symlinkSync(callgateBin, join(bin, "callgate"));
  const env = { PATH: [bin, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter), HOME: root, XDG_CONFIG_HOME: join(root, "config"), STORY_STATE: state, NO_COLOR: "1", COLUMNS: "300" };
  const { status, stdout, stderr } = spawnSync("sh", [join(folder, "story.sh")], { env, encoding: "utf8" });
  expect({ status, stderr: status === 0 ? "" : stderr, stdout: status === 0 ? "" : stdout }).toEqual({ status: 0, stderr: "", stdout: "" });
  const told = new Map(stdout.split("\n== ").map((part) => [part.split("\n", 1)[0] ?? "", part]));
  const part = (start: string): string => [...told].find(([title]) => title.startsWith(start))?.[1] ?? "";
  expect(part("Bea reads the plan")).toMatch(/1 shop\.cancel_order destroys data · needs approval[\s\S]*2 shop\.write_letter changes data · asked when it comes[\s\S]*comes after item 1[\s\S]*It cannot be applied now: nobody has approved it/);
  expect(part("She changes")).toMatch(/~ 1 shop\.cancel_order \{"id":"o-17","reason":"The shop closes"\}: ask \(default:destructive\) → edited by \S+ to \{"id":"o-17","reason":"We are sorry"\}/);
  // The program does not catch what it is told of the dropped write.
  expect(part("Applied")).toContain("1 done, 2 done, 3 dropped");
  expect(part("Applied")).toContain("bob: Your order o-17 was cancelled: refund-of-o-17");
  expect(part("Rehearsed again")).toMatch(/\n1\n[\s\S]*diverged The run ended at the first write that its plan does not have/);
  expect(JSON.parse(readFileSync(join(state, "orders.json"), "utf8"))).toMatchObject([{ id: "o-17", status: "cancelled", reason: "We are sorry" }, { id: "o-99", status: "open" }]);
});
