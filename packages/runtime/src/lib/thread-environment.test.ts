import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

/** In a process of its own: the compile cache, once on, stays on. */
function environmentIn(env: Readonly<Record<string, string>>): unknown {
  const code = `const { threadEnvironment } = await import(${JSON.stringify(new URL("./thread-environment.ts", import.meta.url).href)}); console.log(JSON.stringify(threadEnvironment()))`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", code], { env, encoding: "utf8" }));
}

test("a thread gets nothing of the environment but where compiled code is kept", () => {
  const folder = mkdtempSync(join(tmpdir(), "callgate-compiled-"));
  try {
    expect(environmentIn({ SECRET: "s" })).toEqual({});
    expect(environmentIn({ SECRET: "s", NODE_COMPILE_CACHE: folder })).toEqual({ NODE_COMPILE_CACHE: folder });
    expect(readdirSync(folder)).toHaveLength(1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
