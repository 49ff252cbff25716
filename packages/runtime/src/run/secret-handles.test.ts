import { ToolError } from "@callgate/contract";
import { afterEach, expect, test } from "vitest";
import { qualifiedGlob } from "../lib/name-glob.ts";
import type { NameGlob } from "../lib/name-glob.ts";
import { createRedactor } from "../secrets/redactor.ts";
import { createSecretVault } from "../secrets/secret-vault.ts";
import { createTestGate } from "./fixtures/test-gate.ts";
import type { TestGate } from "./fixtures/test-gate.ts";

const clear = 'sk_live_"CANARY"_40718';
let open: TestGate | undefined;
afterEach(async () => {
  await open?.gate.close();
  open = undefined;
});

/** A tool that may be given the secret and gives it back in every way it can, and one that may not. */
async function world() {
  const got: unknown[] = [];
  const tools = (pattern: string): readonly NameGlob[] => [qualifiedGlob(pattern)].flatMap((glob) => (typeof glob === "string" ? [] : [glob]));
  const made = await createTestGate(
    [
      { name: "pay", effect: "write", sensitive: [], precheck: (args) => void got.push(["precheck", args]), handler: (args) => { got.push(args); return { ok: true, echo: args, base64: Buffer.from(clear).toString("base64"), text: `key ${clear}!` }; } },
      { name: "fail", handler: (args) => { got.push(args); throw new ToolError({ code: "REFUSED", message: `the key ${clear} is not valid`, details: { key: clear } }); } },
      { name: "slow", timeoutMs: 20, handler: async (args) => { await new Promise((resolve) => setTimeout(resolve, 60)); return args; } },
      { name: "note", effect: "write", handler: (args) => { got.push(args); return args; } },
    ],
    {
      secrets: createSecretVault([{ name: "stripe", value: clear, tools: [...tools("t.pay"), ...tools("t.f*"), ...tools("t.slow")] }]),
      redactor: createRedactor({ secrets: [clear], key: new Uint8Array(32).fill(9) }),
    },
  );
  open = made;
  return { ...made, got };
}

test("a program passes a secret that it never sees: the tool gets the value, everybody else its name", async () => {
  const { gate, got, journal, events } = await world();
  const run = await gate.run('return await tools.t.pay({ key: "secret://stripe", deep: [{ key: "secret://stripe" }], kept: "see secret://stripe" });');
  const given = { key: clear, deep: [{ key: clear }], kept: "see secret://stripe" };
  expect(got).toEqual([["precheck", given], given]);
  const named = { key: "secret://stripe", deep: [{ key: "secret://stripe" }], kept: "see secret://stripe" };
  expect(run.value).toMatchObject({ value: { ok: true, echo: named, base64: expect.stringContaining("secret://stripe") as string, text: "key secret://stripe!" } });
  const entries = await journal.readEntries("local", run.runId, { clear: true });
  for (const said of [JSON.stringify(run), JSON.stringify(entries), JSON.stringify(events)]) {
    expect(said).not.toContain("CANARY");
    expect(said).not.toContain(Buffer.from(clear).toString("base64").slice(0, 12));
  }
});

test("an error of the tool does not tell it either", async () => {
  const { gate, got } = await world();
  const run = await gate.run('try { await tools.t.fail({ key: "secret://stripe" }) } catch (error: any) { return [error.message, error.details] }');
  expect(got).toEqual([{ key: clear }]);
  expect(JSON.stringify(run)).not.toContain("CANARY");
  expect(run.status).toBe("completed");
});

test("a tool that may not be given it is not called, and neither is one with a name that is no secret", async () => {
  const { gate, got } = await world();
  const refused = await gate.call("t.note", { text: "secret://stripe" });
  expect(refused.outcome).toMatchObject({ kind: "denied", effectStatus: "none", error: { code: "SECRET_REFUSED", message: expect.stringContaining("t.note may not be given secret://stripe; it may be given no secret") as string } });
  expect((await gate.call("t.pay", { key: "secret://strype" })).outcome).toMatchObject({ kind: "denied", error: { message: expect.stringContaining("t.pay may not be given secret://strype; it may be given secret://stripe") as string } });
  expect(got).toEqual([]);
});

test("a result that comes too late is kept without it", async () => {
  const { gate, journal } = await world();
  const { runId, outcome } = await gate.call("t.slow", { key: "secret://stripe" });
  expect(outcome).toMatchObject({ kind: "timed_out" });
  for (;;) {
    const late = (await journal.readEntries("local", runId, { clear: true })).find(({ kind }) => kind === "call-late");
    if (late === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      continue;
    }
    expect(JSON.stringify(late)).toContain("secret://stripe");
    expect(JSON.stringify(late)).not.toContain("CANARY");
    return;
  }
});

test("declarations and descriptions say which tool may be given which", async () => {
  const { gate } = await world();
  expect(gate.describe(["t.pay", "t.note"]).map(({ spec }) => spec.secrets)).toEqual([["stripe"], undefined]);
  expect(gate.declarations()).toContain('@secrets "secret://stripe"');
});
