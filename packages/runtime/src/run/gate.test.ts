import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate } from "./fixtures/test-gate.ts";

describe("createGate", () => {
  let t: TestGate;
  beforeAll(async () => {
    t = await createTestGate([{ name: "echo", handler: (args) => args }]);
  });
  afterAll(async () => {
    await t.gate.close();
  });

  test("runs a program", async () => {
    const result = await t.gate.run("const a = await tools.t.echo({ x: 1 }); return { a, n: 2 };");
    expect(result).toMatchObject({ status: "completed", value: { kind: "whole", value: { a: { x: 1 }, n: 2 } } });
    const replay = await t.gate.runs.replay(result.runId);
    expect(replay.divergence).toBeUndefined();
    expect(replay.result).toMatchObject({ status: "completed", value: { kind: "whole", value: { a: { x: 1 }, n: 2 } } });
  });
});
