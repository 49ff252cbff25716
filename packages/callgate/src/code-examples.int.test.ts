import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { compiledCode } from "./cli/fixtures/cli-project.ts";

const run = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), "callgate-examples-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** What an example prints. It checks itself: where something is wrong it exits with an error. Where there is no sandbox for it, it says so. */
async function printed(name: string): Promise<string> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, `../../../examples/${name}/${name}.ts`)], { env: { PATH: process.env["PATH"], HOME: home, ...compiledCode } });
  return stdout;
}

test("examples/workflows: a kept workflow's tests, a chain found and drafted, called, kept through a change, locked on another", { timeout: 300_000 }, async () => {
  expect(await printed("workflows")).toMatch(/2 tests passed[^]*found 4 times: shop\.find → shop\.orders → shop\.cancel[^]*keeps its older version[^]*locked on it as 0\.1\.1/);
});

describe("examples of code execution", { timeout: 300_000 }, () => {
  test("tidy-folder: a model's answer tidies a folder, and reaches nothing else", async () => {
    expect(await printed("tidy-folder")).toMatch(/tidied 4 files in 3 blocks|^skipped: /);
  });

  test("shop-database: tables as typed tools, pages, a write back, and what is refused", async () => {
    expect(await printed("shop-database")).toMatch(/^completed: .*"changed":3.*\nrejected: .*city.*\nrefused: /);
  });

  test("http-tool: an endpoint is a tool, all its pages are turned, and what is empty is ordered once", async () => {
    expect(await printed("http-tool")).toBe("9 calls, 11 requests, ordered: 5\n");
  });

  test("merge-apis: the same merge of two tools in TypeScript and in Python", async () => {
    expect(await printed("merge-apis")).toMatch(/^typescript: \{"total":390,"largest":3\}, 4 calls\npython(?:: \{"total":390,"largest":3\}, 4 calls| skipped: )/);
  });
});
