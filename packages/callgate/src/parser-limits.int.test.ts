import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCallgate, defaultLimits } from "./index.ts";

const limitsUrl = new URL("../../../../shared/cases/parser_limits.json", import.meta.url);
const hasLimits = existsSync(limitsUrl);

/** Every depth at which a parser was seen to live or to end. */
function knownDepths(): readonly number[] {
  if (!hasLimits) return [];
  const { rows } = JSON.parse(readFileSync(limitsUrl, "utf8")) as { readonly rows: readonly { readonly ok: string; readonly fails: string }[] };
  const numbers = rows.flatMap(({ ok, fails }) => [...`${ok} ${fails}`.matchAll(/\b\d{3,7}\b/g)].map(([digits]) => Number(digits)));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

const shapes: readonly (readonly [string, (depth: number) => string])[] = [
  ["brackets", (n) => `return ${"[".repeat(n)}${"]".repeat(n)}`],
  ["objects", (n) => `return ${"{a:".repeat(n)}1${"}".repeat(n)}`],
  ["calls", (n) => `return ${"f(".repeat(n)}1${")".repeat(n)}`],
  ["functions", (n) => `${"function f(){".repeat(n)}${"}".repeat(n)}`],
  ["templates", (n) => `return ${"`${".repeat(n)}1${"}`".repeat(n)}`],
  ["type arguments", (n) => `let x: ${"A<".repeat(n)}B${">".repeat(n)}; return 1`],
  ["unary operators", (n) => `return ${"!".repeat(n)}1`],
  ["binary operators", (n) => `return ${"1+".repeat(n)}1`],
  ["members", (n) => `return a${".b".repeat(n)}`],
  ["JSON text", (n) => `return JSON.parse(${JSON.stringify("[".repeat(n) + "]".repeat(n))})`],
];

describe.skipIf(!hasLimits)("parser_limits.json x10 (skipped where ../shared/cases is not beside the repository)", { timeout: 300_000 }, () => {
  let gate: Gate;
  beforeAll(async () => {
    gate = await createCallgate({ stateFolder: mkdtempSync(join(tmpdir(), "callgate-")), limits: { cpuMs: 2_000 } });
    await gate.check("return 1");
  });
  afterAll(() => gate.close());

  test("names depths to go by", () => expect(knownDepths().length).toBeGreaterThan(8));

  test.each(shapes)("%s at ten times every bound end with a diagnostic or run, and are not recorded in full beyond their bound", async (_shape, make) => {
    for (const depth of knownDepths()) {
      const result = await gate.run(make(depth * 10));
      expect(result.status, String(depth)).toMatch(/^(?:rejected|failed|limit|completed)$/);
      if (result.status === "rejected") expect(result.diagnostics[0]?.code, String(depth)).toMatch(/^[A-Z]/);
      if (result.status === "failed") expect(result.error?.code, String(depth)).toMatch(/^(?:PROGRAM_THREW|VALUE_TOO_LARGE)$/);
      // A hundred million characters took eight seconds of the host's own thread when they were written down in full.
      expect((await gate.runs.show(result.runId))?.run.programText?.length).toBeLessThan(defaultLimits.sourceBytes * 2 + 1);
    }
    expect(await gate.run("const n: number = 1; return n")).toMatchObject({ status: "completed", value: { value: 1 } });
  });
});
