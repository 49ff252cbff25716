import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createCallgate, defineTool } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "cg-rollout-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pay = defineTool({ name: "pay", description: "Pays", effect: "write", input: { type: "object" }, handler: () => "paid" });

test("a policy that is tried out is on record where it would have decided otherwise, and decides once it is enforced", async () => {
  const next = { rules: [{ deny: "crm.pay", id: "no-pay" }, { ask: { run: "*" }, id: "programs" }, { ask: "crm.pay", on: "result" as const, id: "results" }], roles: ["pilot"] };
  const open = (stage: "shadow" | "enforce") => createCallgate({ folder, stateFolder: join(folder, stage), tools: { crm: [pay] }, rules: [{ allow: "crm.*" }], policy: { next: { ...next, stage } } });
  const pilot = { tenant: "local", user: "ann", roles: ["pilot"], claims: {} };

  const shadowed = await open("shadow");
  const run = await shadowed.run("return await tools.crm.pay({})", { principal: pilot });
  expect(run).toMatchObject({ status: "completed", value: { value: "paid" } });
  const entries = (await shadowed.runs.show(run.runId, { principal: pilot }))?.entries ?? [];
  expect(entries.find(({ kind }) => kind === "call-decided")).toMatchObject({ decision: "allow", ruleId: "rules[0]", next: { kind: "deny", ruleId: "no-pay" } });
  expect(entries.find(({ kind }) => kind === "checked")).toMatchObject({ ok: true, next: { kind: "ask", ruleId: "programs" } });
  expect(entries.find(({ kind }) => kind === "call-ended")).toMatchObject({ outcome: "ok", resultDecided: { next: { kind: "ask", ruleId: "results" } } });
  expect(shadowed.policy.rules().map(({ place }) => place)).toContain("next rules[0]");
  await shadowed.close();

  const enforced = await open("enforce");
  expect((await enforced.call("crm.pay", {}, { principal: pilot })).outcome).toMatchObject({ kind: "failed", error: { code: "TOOL_NOT_FOUND" } });
  expect((await enforced.call("crm.pay", {}, { principal: { ...pilot, roles: [] } })).outcome).toMatchObject({ kind: "ok" });
  await enforced.close();
});

test("a new version of a tool takes over in the same way: whoever it is for has that one, all others the one before", async () => {
  const payV2 = defineTool({ name: "pay_v2", description: "Pays, in another way", effect: "write", input: { type: "object" }, handler: () => "paid in another way" });
  const gate = await createCallgate({ folder, stateFolder: join(folder, "versions"), tools: { crm: [pay, payV2] }, rules: [{ allow: "crm.pay" }, { deny: "crm.pay_v2", id: "not-yet" }], policy: { next: { rules: [{ deny: "crm.pay", id: "over" }, { allow: "crm.pay_v2" }], stage: "enforce", roles: ["pilot"] } } });
  const seen = async (roles: readonly string[]) => (await gate.search("pays", { principal: { tenant: "local", user: "ann", roles: [...roles], claims: {} } })).map(({ name }) => name);
  expect([await seen(["pilot"]), await seen([])]).toEqual([["crm.pay_v2"], ["crm.pay"]]);
  await gate.close();
});
