import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makePrivateFolder } from "./make-private-folder.ts";

describe("makePrivateFolder", () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-folder-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("makes what is missing, for its owner only, and leaves what is there", () => {
    const path = join(root, "a", "b", "c");
    makePrivateFolder(path);
    makePrivateFolder(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, "a")).mode & 0o777).toBe(0o700);
  });

  test("a file in its place, or on the way to it, is named", () => {
    const file = join(root, "file");
    writeFileSync(file, "");
    for (const path of [file, join(file, "state")]) expect(() => makePrivateFolder(path)).toThrow(expect.objectContaining({ code: "JOURNAL_UNAVAILABLE", message: expect.stringContaining(path) }));
  });

  test.skipIf(!existsSync("/proc/self"))("returns where nothing can be made (skipped where there is no /proc)", () => {
    expect(() => makePrivateFolder("/proc/callgate/state")).toThrow(expect.objectContaining({ code: "JOURNAL_UNAVAILABLE" }));
  });
});
