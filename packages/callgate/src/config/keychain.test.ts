import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readKeychain } from "./keychain.ts";
import { resolveReferences } from "./secret-references.ts";

/** A folder with commands that stand for those of the system: they say how they were asked, or fail. */
function commands() {
  const folder = mkdtempSync(join(tmpdir(), "callgate-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["secret-tool", "security"]) {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\ncase "$*" in *locked*) echo "secret words" >&2; exit 1;; *absent*) exit 0;; esac\necho "${name} $*"\n`);
    chmodSync(file, 0o755);
  }
  return { PATH: [folder, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter) };
}

test.skipIf(process.platform === "win32").each([
  ["linux", "secret-tool lookup service github account ann"],
  ["darwin", "security find-generic-password -s github -a ann -w"],
] as const)("an entry is read by the command of the system (%s)", (platform, asked) => {
  expect(readKeychain("github/ann", "auth", { env: commands(), platform })).toBe(asked);
});

test.skipIf(process.platform === "win32")("what is not there, locked, or no entry is told with its place and what to do, and without the command's own words", () => {
  const env = commands();
  for (const entry of ["locked/ann", "absent/ann"]) {
    expect(() => readKeychain(entry, "openapi.x.auth", { env, platform: "linux" })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringMatching(/^openapi\.x\.auth refers to .*secret-tool store --label/) as string }));
  }
  expect(() => readKeychain("locked/ann", "p", { env, platform: "linux" })).toThrow(expect.objectContaining({ message: expect.not.stringContaining("secret words") as string }));
  expect(() => readKeychain("github/ann", "p", { env: { PATH: "" }, platform: "linux" })).toThrow("is not installed (package libsecret-tools)");
  expect(() => readKeychain("github", "p", { env, platform: "linux" })).toThrow("keychain:SERVICE/ACCOUNT");
  expect(() => readKeychain("github/ann", "p", { env, platform: "win32" })).toThrow("env:NAME");
});

test.skipIf(process.platform !== "linux")("a reference of a configuration leads there, and its value is a secret", () => {
  const { values, secrets } = resolveReferences({ key: "keychain:github/ann" }, "mcpServers.x.env", { env: commands(), folder: "." });
  expect([values, secrets]).toEqual([{ key: "secret-tool lookup service github account ann" }, ["secret-tool lookup service github account ann"]]);
});
