import type { SandboxDriver } from "@callgate/contract";
import type { CaseGroup, DriverWorld } from "./driver-case.ts";
import { whyNot } from "./driver-case.ts";
import type { Dialect } from "./programs.ts";

export interface CaseVerdict {
  readonly group: string;
  readonly name: string;
  readonly verdict: "passed" | "failed" | "does not apply";
  /** Why it failed, or does not apply. */
  readonly reason?: string;
}

export interface ConformanceOptions {
  readonly driver: SandboxDriver;
  readonly dialect: Dialect;
  readonly groups: readonly CaseGroup[];
  /** Cases that are not held against this driver, by name, and why. */
  readonly except?: Readonly<Record<string, string>>;
  /** Called after each case. */
  readonly tell?: (verdict: CaseVerdict) => void;
}

/** Runs the suite's cases one after the other, without a test runner, and says of each what came of it. Never rejects. */
export async function conformanceOf({ driver, dialect, groups, except = {}, tell }: ConformanceOptions): Promise<readonly CaseVerdict[]> {
  const world: DriverWorld = { driver, dialect };
  const verdicts: CaseVerdict[] = [];
  for (const { name: group, cases } of groups) {
    for (const item of cases) {
      const reason = except[item.name] ?? whyNot(item, world);
      const verdict: CaseVerdict = reason === undefined ? { group, name: item.name, ...(await tried(item.run(world), item.timeoutMs ?? 20_000)) } : { group, name: item.name, verdict: "does not apply", reason };
      verdicts.push(verdict);
      tell?.(verdict);
    }
  }
  return verdicts;
}

async function tried(work: Promise<void>, timeoutMs: number): Promise<Pick<CaseVerdict, "verdict" | "reason">> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it took more than ${timeoutMs} ms`)), timeoutMs);
  try {
    await Promise.race([work, promise]);
    return { verdict: "passed" };
  } catch (fault) {
    return { verdict: "failed", reason: fault instanceof Error ? fault.message : String(fault) };
  } finally {
    clearTimeout(timer);
  }
}
