import { testSandboxDriver } from "@callgate/testkit";
import { describe } from "vitest";
import { createProcessDriver } from "./driver.ts";
import { pythonLanguage, shellLanguage } from "./language/guest-language.ts";
import { nodeLanguage } from "./language/node-language.ts";
import { testLaunchers } from "./fixtures/launchers.ts";

// Every language behind every launcher, held against the one suite.
for (const { name, create, skip } of await testLaunchers()) {
  describe.skipIf(skip !== undefined)(`${name}${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
    for (const dialect of ["cpython", "node", "shell"] as const) testSandboxDriver(dialect, () => createProcessDriver({ launcher: create(), languages: [pythonLanguage, nodeLanguage(), shellLanguage] }), { dialect });
  });
}
