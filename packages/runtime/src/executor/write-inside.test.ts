import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { writeInside } from "./write-inside.ts";

const root = mkdtempSync(join(tmpdir(), "callgate-inside-"));
const outside = mkdtempSync(join(tmpdir(), "callgate-outside-"));
afterAll(() => [root, outside].forEach((path) => rmSync(path, { recursive: true, force: true })));

describe("writeInside", () => {
  test("makes folders on the way, and writes over what was there", () => {
    expect(writeInside(root, ["a", "b", "c.py"], "long text")).toBeUndefined();
    expect(writeInside(root, ["a", "b", "c.py"], "short")).toBeUndefined();
    expect(readFileSync(join(root, "a/b/c.py"), "utf8")).toBe("short");
  });

  test("agent-and-executor 50: follows no link, at any level", () => {
    symlinkSync(outside, join(root, "link"));
    symlinkSync(join(outside, "new"), join(root, "file"));
    mkdirSync(join(root, "deep"));
    symlinkSync("../../", join(root, "deep/up"));
    for (const segments of [["link", "x"], ["link", "sub", "x"], ["file"], ["deep", "up", "x"]]) expect(writeInside(root, segments, "x"), segments.join("/")).toContain("not in the workspace");
    expect(readdirSync(outside)).toEqual([]);
  });

  test("agent-and-executor 64: says what is wrong, and throws nothing", () => {
    writeFileSync(join(root, "plain"), "");
    mkdirSync(join(root, "folder"));
    expect(writeInside(root, ["plain", "x"], "x")).toContain("not in the workspace");
    expect(writeInside(root, ["folder"], "x")).toContain("is no file");
    expect(writeInside(join(root, "gone"), ["x"], "x")).toContain("ENOENT");
    // /dev/full is there on Linux alone; elsewhere nothing is proven.
    if (process.platform === "linux") expect(writeInside("/dev", ["full"], "x")).toContain("is no file");
  });
});
