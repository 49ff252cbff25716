import { isWholeRun, testSandboxDriver } from "@callgate/testkit";
import { afterAll, beforeAll, describe } from "vitest";
import { createProcessDriver } from "../../driver.ts";
import { noCases, testSecurityCases } from "../../fixtures/security-cases.ts";
import { startTestEngine, whyNoEngine } from "../../fixtures/test-engine.ts";
import type { TestEngine } from "../../fixtures/test-engine.ts";
import { pythonLanguage, shellLanguage } from "../../language/guest-language.ts";
import { nodeLanguage } from "../../language/node-language.ts";
import type { Launcher } from "../launcher.ts";
import { createContainerLauncher } from "./container-launcher.ts";

// Containers are slow to start and the suite is long: whole runs try all of it, every run the hostile programs that a container could fail
// to hold (container.int.test.ts tries the rest of what is its own).
const part = ["py-013", "py-015", "py-022", "py-025", "py-026", "py-027", "py-034", "py-047", "py-049", "py-051", "py-054", "sh-002"];

for (const kind of isWholeRun ? (["docker", "podman"] as const) : (["docker"] as const)) {
  const skip = whyNoEngine(kind);
  describe.skipIf(skip !== undefined)(`${kind}${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
    let engine: TestEngine;
    let image: string;
    const create = (): Launcher => createContainerLauncher(kind, { engines: [engine.socketPath], image });
    beforeAll(async () => {
      engine = await startTestEngine(kind);
      image = isWholeRun ? await engine.nodeImage() : engine.image;
    }, 240_000);
    afterAll(() => engine.close(), 240_000);

    for (const dialect of isWholeRun ? (["cpython", "node", "shell"] as const) : []) {
      testSandboxDriver(dialect, () => createProcessDriver({ launcher: create(), languages: [pythonLanguage, shellLanguage, nodeLanguage()], warm: 2 }), { dialect });
    }
    testSecurityCases({ name: kind, create, skip: noCases, ...(isWholeRun ? {} : { only: part }) });
  });
}
