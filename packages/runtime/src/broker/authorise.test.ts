import { localPrincipal } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { allow, ask, deny, errorOf, testGate, testTool } from "./fixtures/test-broker.ts";

describe("authorise", () => {
  test("code-mode 19: the query lane reaches reads only, whatever policy allows", async () => {
    let ran = 0;
    const run = () => (ran += 1);
    const gate = testGate({ tools: [testTool("crm.pay", { run }), testTool("crm.drop", { effect: "destructive", run }), testTool("crm.get", { effect: "read", run })], decide: allow });
    for (const name of ["crm.pay", "crm.drop"]) {
      const performed = await gate.call(name, {}, { lane: "query" });
      expect(performed.outcome).toMatchObject({ kind: "denied", effectStatus: "none", error: { code: "DENIED", details: { ruleId: "lane:query" }, message: expect.stringMatching(new RegExp(`${name} was refused: ${name} may change data \\(effect ${name === "crm.pay" ? "write" : "destructive"}\\), and this run may only read\\..*Use the execute lane for programs that write`)) as string } });
    }
    expect(ran).toBe(0);
    expect((await gate.call("crm.get", {}, { lane: "query" })).outcome.kind).toBe("ok");
  });

  test("sees the arguments as they will be performed, frozen", async () => {
    const seen: unknown[] = [];
    const trimmed = { parseInput: (value: unknown) => ({ kind: "ok" as const, value: { account: (value as { account: string }).account.trim(), currency: "EUR" } }) };
    const gate = testGate({ tools: [testTool("crm.pay", { ...trimmed, run: (args) => { seen.push(args); return 1; } })], decide: (_tool, args) => { seen.push(args); return allow(); } });
    const { argsDigest } = await gate.call("crm.pay", { account: " admin " });
    expect(seen).toEqual([{ account: "admin", currency: "EUR" }, { account: "admin", currency: "EUR" }]);
    expect(seen[0]).toBe(seen[1]);
    expect(Object.isFrozen(seen[0])).toBe(true);
    // For people the record shows what was performed; for replay it keeps what the program wrote.
    expect(gate.entries()[0]).toMatchObject({ args: { digest: argsDigest, summary: { account: "admin", currency: "EUR" }, clear: { json: '{"account":" admin "}' } } });
  });

  test("denies when the policy throws", async () => {
    const gate = testGate({ tools: [testTool("crm.get", { effect: "read" })], decide: () => { throw new Error("broken"); } });
    expect((await gate.call("crm.get")).outcome).toMatchObject({ kind: "denied", error: { details: { ruleId: "policy:fault" }, message: expect.stringContaining("The policy could not decide, so the call is refused") as string } });
  });

  test("tells a denial apart from a failure: why, by which rule, what would help, and not to try again", async () => {
    expect(errorOf(await testGate({ tools: [testTool("crm.pay")], decide: deny }).call("crm.pay"))).toEqual({
      code: "DENIED", tool: "crm.pay", retryable: false, details: { ruleId: "deny-all" },
      message: "crm.pay was refused: No call is allowed. It did not happen; do not call it again, nor try to reach the same in another way. Ask the owner of the rules.",
    });
  });

  test("runs no code of a tool, not even its precheck, for a call that policy denies", async () => {
    let checked = 0;
    const gate = testGate({ tools: [testTool("crm.pay", { precheck: () => void (checked += 1) })], decide: deny });
    await gate.call("crm.pay");
    expect(checked).toBe(0);
  });

  test("code-mode 20: hands the same principal, run and call to policy, tool, events and journal; a tool cannot write to it", async () => {
    const principal = { ...localPrincipal, user: "ann", roles: ["clerk"] };
    const gate = testGate({ tools: [testTool("crm.get", { effect: "read", run: (_args, context) => { Reflect.set(context.principal, "user", "root"); (context.principal.roles as string[]).push?.("admin"); return 1; } })] });
    const { outcome } = await gate.call("crm.get", {}, { principal });
    expect(outcome.kind).toBe("failed");
    expect(principal).toEqual({ ...localPrincipal, user: "ann", roles: ["clerk"] });
    expect(gate.events.every((event) => "principal" in event && event.principal === principal && event.runId === "run_1")).toBe(true);
  });

  test("asks about every kind of effect when policy says so", async () => {
    let asked = 0;
    const gate = testGate({ tools: [testTool("crm.get", { effect: "read" })], decide: ask, answer: () => { asked += 1; return { kind: "approved", by: "ann" }; } });
    expect((await gate.call("crm.get")).outcome.kind).toBe("ok");
    expect(asked).toBe(1);
  });
});
