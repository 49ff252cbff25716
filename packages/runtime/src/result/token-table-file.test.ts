import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readTokenTable, writeTokenTable } from "./token-table-file.ts";
import { buildTokenTable, rankOf } from "./token-table.ts";

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), "callgate-table-"))));
afterEach(() => rm(folder, { recursive: true, force: true }));

const tokens = ["a", "ab", [0xc3], "é", "  ", "gate"];

test("a table that was kept finds the same ranks as one that was made", async () => {
  const made = buildTokenTable(tokens);
  const file = join(folder, "below", "table");
  await writeTokenTable(file, made);
  const kept = await readTokenTable(file);
  expect(kept).toEqual(made);
  if (kept === undefined) return;
  const gate = new TextEncoder().encode("a gate");
  expect(rankOf(kept, gate, [2, 6])).toBe(5);
  expect(rankOf(kept, gate, [1, 6])).toBeUndefined();
  expect(await readdir(join(folder, "below"))).toEqual(["table"]);
});

test("what is missing, cut off or changed counts as not kept", async () => {
  const file = join(folder, "table");
  expect(await readTokenTable(file)).toBeUndefined();
  await writeTokenTable(file, buildTokenTable(tokens));
  const whole = await readFile(file);
  for (const damaged of [whole.subarray(0, 0), whole.subarray(0, 7), whole.subarray(0, whole.length - 1), Buffer.concat([whole, Buffer.from([0])]), Buffer.from(whole).fill(0xff, 4, 12), Buffer.from(whole).fill(1, whole.length - 1)]) {
    await writeFile(file, damaged);
    expect(await readTokenTable(file)).toBeUndefined();
  }
});

test("a table that cannot be kept is no fault", async () => {
  await writeFile(join(folder, "file"), "");
  await writeTokenTable(join(folder, "file", "table"), buildTokenTable(tokens));
  expect(await readdir(folder)).toEqual(["file"]);
});
