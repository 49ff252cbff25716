import { ok } from "node:assert/strict";
import type { SandboxDriver } from "@callgate/contract";
import { afterAll, beforeAll, describe, test } from "vitest";
import { callCases } from "./call-cases.ts";
import type { CaseGroup, DriverCase, DriverWorld } from "./driver-case.ts";
import { whyNot } from "./driver-case.ts";
import { endCases } from "./end-cases.ts";
import { endingCases } from "./ending-cases.ts";
import { isolationCases } from "./isolation-cases.ts";
import { declares, lifeCases, valueCases } from "./life-cases.ts";
import { outputCases } from "./output-cases.ts";
import type { Dialect } from "./programs.ts";
import { languageOfDialect } from "./programs.ts";
import { pumpCases } from "./pump-cases.ts";
import { sessionCases } from "./session-cases.ts";

export interface SandboxDriverSuiteOptions {
  /** What its programs are written in: `node` for JavaScript with Node's modules, `cpython` for Python with processes. */
  readonly dialect: Dialect;
  /** Names of cases the driver cannot meet, each with the reason that is printed for it. */
  readonly except?: Readonly<Record<string, string>>;
}

const javascript = (cases: readonly DriverCase[]): readonly DriverCase[] => cases.map((item) => ({ ...item, language: "javascript" }));

/** All of the suite. Common cases first; those whose programs are JavaScript only after them. */
export const sandboxDriverGroups: readonly CaseGroup[] = [
  { name: "tools and values", cases: callCases },
  { name: "output and files", cases: outputCases },
  { name: "ends, limits, life", cases: endingCases },
  { name: "sessions", cases: sessionCases },
  { name: "JavaScript: isolation", cases: javascript(isolationCases) },
  { name: "JavaScript: pump", cases: javascript(pumpCases) },
  { name: "JavaScript: ends and limits", cases: javascript(endCases) },
  { name: "JavaScript: values", cases: javascript(valueCases) },
  { name: "JavaScript: life", cases: javascript(lifeCases) },
];

/**
 * What it means to be a sandbox driver: every sentence of `SandboxDriver`, `GuestRun` and `GuestHost` as a test, and
 * the promises about guests (DESIGN P8 to P11, D7). A driver is done when this is green in each language it runs.
 *
 * A case that does not apply (a shell calls no tools, a process cannot be replayed) is skipped with the reason.
 * `createDriver` is called a few times; each driver is closed.
 */
export function testSandboxDriver(name: string, createDriver: () => SandboxDriver | Promise<SandboxDriver>, { dialect, except = {} }: SandboxDriverSuiteOptions): void {
  describe(name, () => {
    for (const group of sandboxDriverGroups) {
      describe(group.name, () => {
        let world: DriverWorld;
        beforeAll(async () => {
          const driver = await createDriver();
          world = { driver, dialect };
          declares(driver);
          ok(driver.languages.includes(languageOfDialect[dialect]), `${driver.name} does not say that it runs ${dialect}`);
        });
        afterAll(() => world.driver.close());
        for (const item of group.cases) {
          test(item.name, { timeout: item.timeoutMs ?? 20_000 }, async (context) => {
            const reason = except[item.name] ?? whyNot(item, world);
            if (reason !== undefined) return context.skip(reason);
            await item.run(world);
          });
        }
      });
    }
  });
}
