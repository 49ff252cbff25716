import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createExecutorFolders } from "./executor-folders.ts";

const root = mkdtempSync(join(tmpdir(), "callgate-folders-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const own = { workDir: undefined, folder: root, guestUser: undefined, modules: {} };

describe("createExecutorFolders", () => {
  test("agent-and-executor 61: what cannot be removed is told, and nothing is thrown", () => {
    const folders = createExecutorFolders({ ...own, removeFolder: () => { throw new Error("busy"); } });
    expect(folders.remove()).toEqual([expect.stringMatching(/could not be removed \(busy\); remove it yourself/)]);
    rmSync(join(folders.work, ".."), { recursive: true });
  });

  test("a folder of our own is gone afterwards, with all that is in it", () => {
    const folders = createExecutorFolders({ ...own, modules: { "functions.py": "x = 1" } });
    writeFileSync(join(folders.work, "data"), "");
    expect(readdirSync(folders.modules ?? "")).toEqual(["functions.py"]);
    expect(folders.remove()).toEqual([]);
    expect(existsSync(join(folders.work, ".."))).toBe(false);
  });

  test("of a user's folder only out/ is removed, and that only when it was not there and is empty", () => {
    for (const [name, before, filled, left] of [["none", false, false, false], ["there", true, false, true], ["filled", false, true, true]] as const) {
      const workDir = join(root, name);
      mkdirSync(join(workDir, before ? "out" : "."), { recursive: true });
      const folders = createExecutorFolders({ ...own, workDir });
      mkdirSync(join(workDir, "out"), { recursive: true });
      if (filled) writeFileSync(join(workDir, "out/report.md"), "");
      expect(folders.remove()).toEqual([]);
      expect([name, existsSync(join(workDir, "out"))]).toEqual([name, left]);
    }
  });
});
