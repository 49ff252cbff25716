import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createMasterKey, openMasterKey } from "./master-key.ts";

async function keyPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "callgate-key-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "state", "journal.key");
}

describe("openMasterKey", () => {
  test("makes a key only its owner can read, and finds the same one again", async () => {
    const path = await keyPath();
    const first = await openMasterKey(path);
    const second = await openMasterKey(path);
    expect([first.created, second.created]).toEqual([true, false]);
    expect(second.key.id).toBe(first.key.id);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  });

  test("gives all that start at once the same key, made once, and leaves nothing beside it", async () => {
    const path = await keyPath();
    const opened = await Promise.all(Array.from({ length: 12 }, () => openMasterKey(path)));
    expect(new Set(opened.map(({ key }) => key.id)).size).toBe(1);
    expect(opened.filter(({ created }) => created)).toHaveLength(1);
    expect(await readdir(join(path, ".."))).toEqual(["journal.key"]);
  });

  test("takes read access from others when somebody had given it", async () => {
    const path = await keyPath();
    await openMasterKey(path);
    await chmod(path, 0o644);
    await openMasterKey(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("refuses a file that is no key, and does not replace it", async () => {
    const path = await keyPath();
    await openMasterKey(path);
    for (const text of ["", "short", "g".repeat(64)]) {
      await writeFile(path, text);
      await expect(openMasterKey(path)).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE", message: expect.stringContaining("Restore it from a backup") });
      expect(await readFile(path, "utf8")).toBe(text);
    }
  });
});

describe("createMasterKey", () => {
  test("derives another key for each purpose, the same for equal ones, and none that tells it", () => {
    const [one, two] = [createMasterKey(Buffer.alloc(32, 1)), createMasterKey(Buffer.alloc(32, 2))];
    expect(one.derive("redactor")).toEqual(one.derive("redactor"));
    expect(one.derive("redactor")).not.toEqual(one.derive("other"));
    expect(one.derive("redactor")).not.toEqual(two.derive("redactor"));
    expect(one.id).toMatch(/^[0-9a-f]{16}$/);
  });

  test("opens what it sealed, only in its place and only unchanged", () => {
    const [one, two] = [createMasterKey(Buffer.alloc(32, 1)), createMasterKey(Buffer.alloc(32, 2))];
    const sealed = one.box.seal("clear", "run-1");
    expect(one.box.open(sealed, "run-1")?.toString()).toBe("clear");
    expect(one.box.open(sealed, "run-2")).toBeUndefined();
    expect(two.box.open(sealed, "run-1")).toBeUndefined();
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(one.box.open(changed, "run-1")).toBeUndefined();
    }
    expect(one.box.open(sealed.subarray(0, 10), "run-1")).toBeUndefined();
    expect(one.box.seal("clear", "run-1")).not.toEqual(sealed);
  });

  test("refuses a key of another length", () => {
    expect(() => createMasterKey(Buffer.alloc(16))).toThrow(expect.objectContaining({ code: "ASSERTION" }));
  });
});
