import type { SandboxDriver } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DriverCase } from "./driver-case.ts";
import { endCases } from "./end-cases.ts";
import { isolationCases } from "./isolation-cases.ts";
import { declares, lifeCases, valueCases } from "./life-cases.ts";
import { pumpCases } from "./pump-cases.ts";

export interface SandboxDriverSuiteOptions {
  /** The language its programs are written in. More come with the first driver of another one. */
  readonly language: "javascript";
  /** Names of cases the driver cannot meet, each with the reason that is printed for it. */
  readonly except?: Readonly<Record<string, string>>;
}

/**
 * What it means to be a sandbox driver: every sentence of `SandboxDriver`, `GuestRun` and `GuestHost` as a test, and
 * the promises about guests (DESIGN P8 to P11, D7). A driver is done when this is green.
 *
 * `createDriver` is called a few times; each driver is closed.
 */
export function testSandboxDriver(name: string, createDriver: () => SandboxDriver | Promise<SandboxDriver>, options: SandboxDriverSuiteOptions): void {
  const groups: readonly (readonly [string, readonly DriverCase[]])[] = [
    ["isolation", isolationCases],
    ["pump", pumpCases],
    ["ends and limits", endCases],
    ["values", valueCases],
    ["life", lifeCases],
  ];
  describe(name, () => {
    for (const [group, cases] of groups) {
      describe(group, () => {
        let driver: SandboxDriver;
        beforeAll(async () => {
          driver = await createDriver();
          declares(driver);
          expect(driver.languages).toContain(options.language);
        });
        afterAll(() => driver.close());
        for (const { name: title, run, timeoutMs = 20_000 } of cases) {
          const reason = options.except?.[title];
          if (reason === undefined) test(title, () => run(driver), timeoutMs);
          else test.skip(`${title} (${reason})`);
        }
      });
    }
  });
}
