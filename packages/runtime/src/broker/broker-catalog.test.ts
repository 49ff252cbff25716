import { ToolError } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createCatalog } from "../catalog/catalog.ts";
import { defineTool } from "../source/define-tool.ts";
import { functionSource } from "../source/function-source.ts";
import { errorOf, testGate } from "./fixtures/test-broker.ts";

let paid: unknown[] = [];

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: z.strictObject({ id: z.int(), amount: z.number().positive(), note: z.string().trim().default("none") }),
  output: z.object({ receipt: z.string() }),
  handler: (args) => {
    paid.push(args);
    return { receipt: `r-${args.id}` };
  },
});
const find = defineTool({
  name: "find",
  description: "Finds.",
  effect: "read",
  input: { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false },
  errors: [{ code: "NO_RECORD", description: "There is no such record" }],
  handler: () => {
    throw new ToolError({ code: "NO_RECORD", message: "No record 7", details: { id: "7" } });
  },
});

async function realCatalog() {
  const source = functionSource({ namespace: "crm", tools: [pay, find] });
  return createCatalog([{ source, listing: await source.list(new AbortController().signal) }]);
}

describe("createBroker over a real catalog", () => {
  test.each<[string, unknown]>([
    ["a number as text", { id: 1, amount: "1e9" }],
    ["a number in a list", { id: 1, amount: [5] }],
    ["an object that claims a value", { id: 1, amount: { valueOf: 5 } }],
    ["a boolean for a number", { id: true, amount: 5 }],
    ["an extra key", { id: 1, amount: 5, admin: true }],
    ["an extra key that is a prototype's", JSON.parse('{"id":1,"amount":5,"__proto__":{"admin":true}}')],
    ["a missing key", { id: 1 }],
    ["a number as key", { 0: 1, id: 1, amount: 5 }],
    ["a list", [1, 5]],
    ["text", "pay"],
    ["not a number", { id: 1, amount: Number.NaN }],
    ["infinity", { id: 1, amount: Number.POSITIVE_INFINITY }],
    ["a bigint", { id: 1n, amount: 5 }],
  ])("br-002: takes %s for what it is, and does not run the tool", async (_name, args) => {
    paid = [];
    const performed = await testGate({ tools: [] }).call("crm.pay", args, { catalog: await realCatalog() });
    expect(performed.outcome).toMatchObject({ kind: "invalid_input", effectStatus: "none", error: { code: "INVALID_INPUT" } });
    expect(errorOf(performed).message).toContain("The arguments of crm.pay do not match its schema: ");
    expect(paid).toEqual([]);
  });

  test("hands the tool what its own schema made of the arguments, in the form the author wrote", async () => {
    paid = [];
    const { outcome, wire } = await testGate({ tools: [] }).call("crm.pay", { id: 7, amount: 5, note: "  hello " }, { catalog: await realCatalog() });
    expect(outcome).toMatchObject({ kind: "ok", effectStatus: "done", value: { receipt: "r-7" } });
    expect(wire).toEqual({ json: '{"receipt":"r-7"}', tagged: false });
    expect(paid).toEqual([{ id: 7, amount: 5, note: "hello" }]);
  });

  test("agent 7: names the nearest tools for one that is not there", async () => {
    const performed = await testGate({ tools: [] }).call("crm.fnd", {}, { catalog: await realCatalog() });
    expect(errorOf(performed)).toMatchObject({ code: "TOOL_NOT_FOUND", details: { nearest: expect.arrayContaining(["crm.find"]) as string[] } });
  });

  test("agent 8: names an extra argument", async () => {
    const performed = await testGate({ tools: [] }).call("crm.find", { id: "7", idd: "7" }, { catalog: await realCatalog() });
    expect(errorOf(performed).message).toContain("idd");
  });

  test.each(["constructor", "__proto__", "then", "toString", "crm.constructor", "crm.__proto__", "crm.toString", "crm", ""])("br-029: %j resolves to no tool", async (name) => {
    expect(errorOf(await testGate({ tools: [] }).call(name, {}, { catalog: await realCatalog() })).code).toBe("TOOL_NOT_FOUND");
  });

  test("gives a tool's own code to its caller", async () => {
    const performed = await testGate({ tools: [] }).call("crm.find", { id: "7" }, { catalog: await realCatalog() });
    expect(performed.outcome).toMatchObject({ kind: "failed", effectStatus: "none", error: { code: "NO_RECORD", message: "No record 7", details: { id: "7" }, retryable: false } });
  });
});
