import { testSandboxDriver } from "@callgate/testkit";
import { describe } from "vitest";
import { createProcessDriver } from "./driver.ts";
import { commandLanguage } from "./language/command-language.ts";
import { pythonLanguage, shellLanguage } from "./language/guest-language.ts";
import { nodeLanguage } from "./language/node-language.ts";
import { suiteLaunchers } from "./fixtures/launchers.ts";

// Every language behind every launcher, held against the one suite.
for (const { name, create, skip } of await suiteLaunchers()) {
  describe.skipIf(skip !== undefined)(`${name}${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
    // One language by command stands for all of them, and one launcher: to a launcher it is what the shell is.
    const dialects = ["cpython", "node", "shell", ...(name === "bubblewrap" ? (["perl"] as const) : [])] as const;
    for (const dialect of dialects) testSandboxDriver(dialect, () => createProcessDriver({ launcher: create(), languages: [pythonLanguage, nodeLanguage(), shellLanguage, commandLanguage("perl", { command: ["perl"] })] }), { dialect });
  });
}
