import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { currentProcess } from "./process-identity.ts";
import { takeMark } from "./process-mark.ts";

let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "callgate-mark-"))));
afterEach(() => rmSync(folder, { recursive: true }));
const mark = (): string => join(folder, "journal.db.moving");

test("one process at a time has it", () => {
  expect([takeMark(mark(), Date.now()), takeMark(mark(), Date.now())]).toEqual([true, false]);
  rmSync(mark());
  expect(takeMark(mark(), Date.now())).toBe(true);
});

test("one that was left by a process that was killed is taken over", () => {
  writeFileSync(mark(), JSON.stringify({ ...currentProcess(), pid: 2 ** 22 + 1, heartbeatAtMs: Date.now() }));
  expect([takeMark(mark(), Date.now()), takeMark(mark(), Date.now())]).toEqual([true, false]);
  expect(readdirSync(folder)).toEqual(["journal.db.moving"]);
});

test.each(["", "{", "[]", '{"pid":1}'])("of one that says %j, its age tells", (text) => {
  writeFileSync(mark(), text);
  expect(takeMark(mark(), Date.now())).toBe(false);
  const longAgo = Date.now() / 1000 - 120;
  utimesSync(mark(), longAgo, longAgo);
  expect(takeMark(mark(), Date.now())).toBe(true);
  expect(existsSync(mark())).toBe(true);
});
