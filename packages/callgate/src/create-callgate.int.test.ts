import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate, defineTool } from "./index.ts";

const add = defineTool({ name: "add", description: "Adds", effect: "read", input: z.object({ a: z.number(), b: z.number() }), output: z.number(), handler: ({ a, b }) => a + b });

describe("createCallgate", { timeout: 60_000 }, () => {
  test("runs a program against tools given as functions", async () => {
    const gate = await createCallgate({ stateFolder: mkdtempSync(join(tmpdir(), "callgate-")), tools: { math: [add] } });
    const result = await gate.run("return await tools.math.add({ a: 1, b: 2 })");
    await gate.close();
    expect(result).toMatchObject({ status: "completed", value: { kind: "whole", value: 3 } });
  });

  test("a damaged journal is kept aside, said, and the gate works", async () => {
    const stateFolder = mkdtempSync(join(tmpdir(), "callgate-"));
    writeFileSync(join(stateFolder, "journal.db"), "this is no database, ".repeat(500));
    const gate = await createCallgate({ stateFolder, tools: { math: [add] } });
    const result = await gate.call("math.add", { a: 1, b: 2 });
    expect(result.outcome).toMatchObject({ kind: "ok", value: 3 });
    expect(gate.problems.join("\n")).toContain("journal.db.corrupt-");
    await gate.close();
    expect(readdirSync(stateFolder).some((name) => name.startsWith("journal.db.corrupt-"))).toBe(true);
  });

  test("an mcp server by url and a reference that leads nowhere are named", async () => {
    const stateFolder = mkdtempSync(join(tmpdir(), "callgate-"));
    await expect(createCallgate({ stateFolder, mcpServers: { far: { url: "http://localhost:1" } } })).rejects.toThrow("mcpServers.far: servers reached by url are not supported yet");
    await expect(createCallgate({ stateFolder, mcpServers: { a: { command: "x", env: { T: "env:CALLGATE_NOT_SET" } } } })).rejects.toThrow("mcpServers.a.env.T refers to the environment variable CALLGATE_NOT_SET");
  });
});
