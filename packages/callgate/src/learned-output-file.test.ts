import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createLearnedOutputFile } from "./learned-output-file.ts";

const stateFolder = mkdtempSync(join(tmpdir(), "callgate-learned-"));
afterAll(() => rmSync(stateFolder, { recursive: true, force: true }));

test("is kept for its user alone, apart for each configuration; one that is no JSON is told and left aside", () => {
  const faults: string[] = [];
  const file = createLearnedOutputFile({ stateFolder, folder: "/a", onFault: (fault) => void faults.push(String(fault)) });
  expect(file.read()).toBeUndefined();
  file.write({ version: 1 });
  expect(createLearnedOutputFile({ stateFolder, folder: "/a" }).read()).toEqual({ version: 1 });
  expect(createLearnedOutputFile({ stateFolder, folder: "/b" }).read()).toBeUndefined();
  const place = join(stateFolder, "learned-outputs");
  const [name = ""] = readdirSync(place);
  expect([statSync(place).mode & 0o777, statSync(join(place, name)).mode & 0o777]).toEqual([0o700, 0o600]);
  writeFileSync(join(place, name), "{ half");
  expect(file.read()).toBeUndefined();
  expect(faults).toEqual([expect.stringContaining("learned again") as string]);
});
