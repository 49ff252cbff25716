import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { compiledCode } from "./cli/fixtures/cli-project.ts";

const run = promisify(execFile);

describe("examples/expense-week", () => {
  test("code-mode 3, code-mode 7: a week of approvals, a refusal, a killed process and a rollback pays once and takes back once", { timeout: 180_000 }, async () => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, "../../../examples/expense-week/week.ts")], { env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...compiledCode } });
    expect(stdout).toContain("The process dies when the money has left");
    expect(stdout.trimEnd().split("\n").slice(-4).map((line) => line.trim())).toEqual(["paid       train to Lyon, 84.00", "paid       hotel, 210.00", "taken back hotel, 210.00", "taken back train to Lyon, 84.00"]);
  });
});
