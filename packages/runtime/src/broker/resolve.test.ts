import { describe, expect, test } from "vitest";
import { errorOf, testGate, testTool } from "./fixtures/test-broker.ts";

const tools = ["crm.pay", "crm.get", "hr.fire"].map((name) => testTool(name));

describe("resolve", () => {
  test("br-001: an invisible tool and one that does not exist are one to the caller: outcome, words, events, record", async () => {
    const probe = async (existing: boolean) => {
      const gate = testGate({ tools: existing ? tools : tools.filter(({ namespace }) => namespace !== "hr"), visible: (tool) => tool !== "hr.fire" });
      const { durationMs: _durationMs, ...performed } = await gate.call("hr.fire", { who: "ann" });
      return JSON.stringify([performed, gate.events, gate.entries()]);
    };
    expect(await probe(true)).toBe(await probe(false));
  });

  test("br-001: a call of it has no effect, is journalled, and suggests only what the caller may see", async () => {
    const gate = testGate({ tools, visible: (tool) => tool !== "crm.get" });
    const performed = await gate.call("crm.gett");
    expect(performed).toMatchObject({ effect: "write", outcome: { kind: "failed", effectStatus: "none" } });
    expect(errorOf(performed)).toEqual({
      code: "TOOL_NOT_FOUND", tool: "crm.gett", retryable: false, details: { nearest: ["crm.pay"] },
      message: 'No tool "crm.gett" is visible to local. Did you mean crm.pay? Nothing was changed.',
    });
    expect(gate.entries()).toMatchObject([{ kind: "call-issued", tool: "crm.gett", definitionDigest: undefined, args: { summary: "hash:all" } }, { kind: "call-ended", outcome: "failed" }]);
  });

  test("says how to search where nothing is near", async () => {
    expect(errorOf(await testGate({ tools }).call("x.y")).message).toContain("Search for one with tools.search(query).");
  });

  test("repeats a name only bounded and on one line", async () => {
    const error = errorOf(await testGate({ tools }).call(`a\n\u202eb.${"x".repeat(9_000)}`));
    expect(error.tool).toMatch(/^a\?\?b\.x{195}…$/);
    expect(error.message.length).toBeLessThan(400);
  });

  test("hides every tool when the policy throws", async () => {
    const gate = testGate({ tools, visible: () => { throw new Error("broken"); } });
    expect(errorOf(await gate.call("crm.pay")).code).toBe("TOOL_NOT_FOUND");
  });

  test("ends the call when the catalog throws, with an id for the log", async () => {
    const gate = testGate({ tools });
    const performed = await gate.call("crm.pay", {}, { catalog: { resolve: () => { throw new Error("broken canary-7f3a"); }, nearest: () => [] } });
    expect(performed.outcome).toMatchObject({ kind: "failed", effectStatus: "none", error: { code: "INTERNAL", details: { faultId: "flt_1" } } });
    expect(gate.logs).toMatchObject([{ level: "error", message: "Fault flt_1: broken [secret]" }]);
  });
});
