import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmdirSync, statSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";

test.skipIf(process.platform === "win32")("br-032: code that was compiled before is run from a folder of the user's only: none that others may write to, or that leads elsewhere", () => {
  const { folder, state, env } = createCliProject({}, { NODE_COMPILE_CACHE: "" });
  const own = join(state, "callgate");
  const compiled = join(own, "compiled");
  const isUsed = (): boolean => {
    const { status } = spawnSync(process.execPath, [callgateBin, "--version"], { cwd: folder, env, encoding: "utf8", timeout: 60_000 });
    expect(status).toBe(0);
    return existsSync(compiled) && readdirSync(compiled).length > 0;
  };
  mkdirSync(compiled, { recursive: true });
  chmodSync(compiled, 0o777);
  expect(isUsed()).toBe(false);
  rmdirSync(compiled);
  mkdirSync(join(folder, "elsewhere"));
  symlinkSync(join(folder, "elsewhere"), compiled);
  expect(isUsed()).toBe(false);
  unlinkSync(compiled);
  expect(isUsed()).toBe(true);
  expect(statSync(compiled).mode & 0o777).toBe(0o700);
}, 120_000);
