// Guards docs/security.md: a promise whose test was renamed or removed is no promise.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const rows = readFileSync("docs/security.md", "utf8")
  .split("## What holds")[1]
  ?.split("\n")
  .filter((line) => line.startsWith("| ") && line.includes("`")) ?? [];
const files = execFileSync("git", ["ls-files", "packages/*.test.ts", "packages/testkit/src"], { encoding: "utf8" }).trim().split("\n");
const sources = files.map((file) => readFileSync(file, "utf8")).join("\n");

describe("docs/security.md", () => {
  test("makes promises", () => expect(rows.length).toBeGreaterThan(15));

  test.each(rows.map((row) => [row.split("|")[1]?.trim(), row] as const))("code-mode 21: %s", (_promise, row) => {
    const named = [...(row.split("|")[2] ?? "").matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(sources).toContain(name);
  });
});
