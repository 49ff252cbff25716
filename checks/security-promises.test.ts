// Guards docs/security.md and docs/guide/threat-model.md: a promise whose test was renamed or removed is no promise.
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

describe("docs/guide/threat-model.md", () => {
  const promises = readFileSync("docs/guide/threat-model.md", "utf8").split("\n").filter((line) => line.startsWith("| ") && line.includes(".ts`"));

  test("makes promises, each with attacks", () => {
    expect(promises.length).toBeGreaterThan(20);
    for (const row of promises) expect(row.split(" | ")[1]?.trim().length, row).toBeGreaterThan(10);
  });

  test.each(promises.map((row) => [row.slice(2).split(" | ")[0], row.split(" | ")[2] ?? ""] as const))("code-mode 21: %s", (_promise, heldBy) => {
    let file = "";
    let named = 0;
    for (const [, words = ""] of heldBy.matchAll(/`([^`]+)`/g)) {
      if (/^[\w/.-]+\.ts$/.test(words)) file = readFileSync(words, "utf8");
      else {
        named += 1;
        expect(file).toContain(words);
      }
    }
    expect(named).toBeGreaterThan(0);
  });
});
