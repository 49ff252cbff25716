import { setTimeout as sleep } from "node:timers/promises";
import type { RunResult } from "@callgate/contract";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

/** The real checker, sandbox and journal; a program that only waits is suspended at once. */
async function open() {
  const done: unknown[] = [];
  const write: TestTool = { name: "write", effect: "write", handler: (args) => { done.push(args); return { n: done.length }; } };
  const { gate } = await createTestGate([write], { defaults: { suspendAfterMs: 0, budgetTokens: 100_000 } });
  onTestFinished(() => gate.close());
  return { gate, done };
}

/** A run that is resumed before its sleep is over sleeps on. */
async function whenDue({ waits }: RunResult): Promise<void> {
  const [wait] = waits ?? [];
  if (wait?.kind === "timer") await sleep(Math.max(0, wait.untilMs - Date.now()) + 1);
}

const body = `
const before = Date.now();
const one = await t.write({ n: 1 });
await sleep(20);
const order = await waitFor("order-paid", { timeoutMs: 86_400_000 });
await t.write({ n: order.n });
return [Date.now() - before >= 20, one.n, order];`;

describe("sleep and waitFor of a program, from the module and as globals", () => {
  test.each([
    ["imported by name", `import { sleep, t, waitFor } from "tools";${body}`],
    ["under other names", `import { sleep as pause, t, waitFor as event } from "tools";${body.replace("sleep(", "pause(").replace("waitFor(", "event(")}`],
    ["as members of tools", body.replaceAll("t.write", "tools.t.write").replace("sleep(", "tools.sleep(").replace("waitFor(", "tools.waitFor(")],
    ["of the whole module", `import * as all from "tools";${body.replaceAll("t.write", "all.t.write").replace("sleep(", "all.sleep(").replace("waitFor(", "all.waitFor(")}`],
    ["as globals", body.replaceAll("t.write", "tools.t.write")],
  ])("%s: checked, suspended twice, gone on with and replayed", async (_name, program) => {
    const { gate, done } = await open();
    const slept = await gate.run(program);
    expect(slept).toMatchObject({ status: "suspended", diagnostics: [], waits: [{ kind: "timer" }] });
    await whenDue(slept);
    const waiting = await gate.runs.resume(slept.runId);
    expect(waiting).toMatchObject({ status: "suspended", waits: [{ kind: "event", name: "order-paid", occurrence: 0 }] });
    await gate.runs.signal(slept.runId, { name: "order-paid", payload: { n: 7 } });
    const result = await gate.runs.resume(slept.runId);
    expect(result).toMatchObject({ status: "completed", value: { value: [true, 1, { n: 7 }] } });
    expect(done).toEqual([{ n: 1 }, { n: 7 }]);
    const replayed = await gate.runs.replay(slept.runId);
    expect(replayed).toMatchObject({ result: { status: "completed", value: { value: [true, 1, { n: 7 }] } } });
    expect(replayed.divergence).toBeUndefined();
    expect(done).toHaveLength(2);
  });

  test.each([
    ["await sleep('soon')", "string"],
    ["await tools.sleep('soon')", "string"],
    ['import { sleep } from "tools";\nawait sleep("soon")', "string"],
    ['import { waitFor } from "tools";\nawait waitFor("a", { timeout: 5 })', "timeout"],
    ['import { wait } from "tools";\nawait wait(5)', "wait"],
  ])("what does not fit their declarations is refused before anything runs: %s", async (program, named) => {
    const { gate } = await open();
    const result = await gate.run(program);
    expect(result.status).toBe("rejected");
    expect(JSON.stringify(result.diagnostics)).toContain(named);
  });

  test("a wait that nobody awaits is told as any promise is", async () => {
    const { gate } = await open();
    for (const program of ["sleep(20);\nreturn 1", 'import { sleep } from "tools";\nsleep(20);\nreturn 1']) {
      const result = await gate.run(program);
      expect([...result.repairs, ...result.diagnostics].map(({ line }) => line)).toContain(program.split("\n").length - 1);
    }
  });
});
