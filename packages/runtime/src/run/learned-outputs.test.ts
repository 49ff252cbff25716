import { localPrincipal } from "@callgate/contract";
import type { JsonValue } from "@callgate/contract";
import { afterEach, describe, expect, test } from "vitest";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

let value: unknown;
const find: TestTool = { name: "find", handler: () => value };
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function learningGate(store?: { read(): JsonValue | undefined; write(value: JsonValue): void }) {
  const { gate } = await createTestGate([find], { learnOutputs: store === undefined ? {} : { store } });
  closing.push(() => gate.close());
  value = { customer: { name: "Ann", city: "Oslo" }, orders: [{ cents: 7 }] };
  return gate;
}

describe("a tool that declares no output", () => {
  test("is declared as what it was seen to answer, in both languages, with every field optional and how often it was seen", async () => {
    const gate = await learningGate();
    expect(gate.declarations()).toContain("find<Output = unknown>(");
    await gate.call("t.find", {});
    await gate.call("t.find", {});
    expect(gate.declarations()).toMatch(/find<Output = \{\s+customer\?: \{\s+city\?: string;\s+name\?: string;\s+\};\s+orders\?: \{\s+cents\?: number;\s+\}\[\];\s+\}>/);
    expect(gate.declarations()).toContain("observed from 2 calls, not declared: any field may be missing");
    expect(gate.declarations({ language: "python" })).toMatch(/class FindOutput\(TypedDict\):\n {4}customer: NotRequired\[FindOutputCustomer\]/);
    expect(gate.describe(["t.find"])[0]).toMatchObject({ learned: { calls: 2, schema: { type: "object" } }, signature: expect.stringContaining("city?: string") as string });
    expect(gate.declarations({ principal: { ...localPrincipal, tenant: "rival" } })).not.toContain("city");
    const fromProgram = await gate.run('return (await tools.describe(["t.find"]))[0]');
    expect(fromProgram.value).toMatchObject({ value: { observedOutput: { calls: 2 } } });
  });

  test("makes a misspelt field a warning, never an error and never a repair, and says nothing of fields that may be missing", async () => {
    const gate = await learningGate();
    await gate.call("t.find", {});
    const good = await gate.run("const { customer, orders } = await tools.t.find({}); return [customer.name.length, orders[0].cents]");
    expect([good.status, good.diagnostics, good.value]).toMatchObject(["completed", [], { value: [3, 7] }]);
    const misspelt = await gate.run("const found = await tools.t.find({});\nreturn [found.customer.cty, found.customr?.name]");
    expect(misspelt).toMatchObject({ status: "completed", value: { value: [undefined, undefined] } });
    expect(misspelt.repairs).toEqual([]);
    expect(misspelt.diagnostics.map(({ severity, line }) => [severity, line])).toEqual([["warning", 2], ["warning", 2]]);
    expect(misspelt.diagnostics[0]?.message).toContain("by what this tool was seen to answer, which it does not declare");

    // What is new is simply there, and no warning after it was seen.
    value = { customer: { name: "Bo", since: 2030 } };
    const first = await gate.run("return (await tools.t.find({})).customer.since + 1");
    expect([first.status, first.value, first.diagnostics.length]).toMatchObject(["completed", { value: 2031 }, 1]);
    expect((await gate.run("return (await tools.t.find({})).customer.since + 2")).diagnostics).toEqual([]);
    // What is wrong otherwise is an error as ever.
    expect((await gate.run("return (await tools.t.find({})).customer.cty + tools.t.fnd({}) + nothing.here")).status).toBe("rejected");
  });

  test("is known to the next gate, and a rehearsed or failed call teaches nothing", async () => {
    let kept: JsonValue | undefined;
    const store = { read: () => kept, write: (written: JsonValue) => void (kept = written) };
    const gate = await learningGate(store);
    await gate.call("t.find", {});
    await gate.close();
    expect(JSON.stringify(kept)).not.toMatch(/Ann|Oslo/);
    const next = await learningGate(store);
    expect(next.declarations()).toContain("city?: string");

    const { gate: writing } = await createTestGate([{ name: "pay", effect: "write", handler: () => ({ receipt: 1 }) }, { name: "fails", handler: () => Promise.reject(new Error("no")) }], { learnOutputs: {} });
    closing.push(() => writing.close());
    await writing.run("await tools.t.pay({}); return 1", { rehearse: true });
    await writing.call("t.fails", {});
    expect(writing.declarations()).not.toContain("observed from");
    await writing.run("await tools.t.pay({}); return 1");
    expect(writing.declarations()).toContain("receipt?: number");
  });
});
