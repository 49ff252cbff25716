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

  test("an mcp server that nothing answers for and a secret that is not set are said, and the rest works", async () => {
    const mcpServers = { far: { url: "http://localhost:1" }, locked: { command: "x", env: { T: "env:CALLGATE_NOT_SET" } } };
    const gate = await createCallgate({ stateFolder: mkdtempSync(join(tmpdir(), "callgate-")), mcpServers, tools: { math: [add] } });
    await gate.ready();
    expect((await gate.call("math.add", { a: 1, b: 2 })).outcome.kind).toBe("ok");
    const problems = gate.problems.join("\n");
    await gate.close();
    expect(problems).toContain("http://localhost:1 could not be reached: nothing listens there");
    expect(problems).toContain("mcpServers.locked.env.T refers to the environment variable CALLGATE_NOT_SET, which is not set");
  });

  test("agent-and-executor 65: check.scan denies, notes or silences by rule and by beginning, and knows its rules", async () => {
    const open = (scan: Record<string, "deny" | "note">) => createCallgate({ stateFolder: mkdtempSync(join(tmpdir(), "callgate-")), check: { scan } });
    const gate = await open({ SH_: "deny", SH_EVAL: "note" });
    const severities = async (program: string) => (await gate.check(program, { language: "shell" })).diagnostics.map(({ code, severity }) => `${severity} ${code}`);
    expect(await severities("rm -rf /")).toEqual(["error SH_RM_ROOT"]);
    expect(await severities("eval ls")).toEqual(["advice SH_EVAL"]);
    expect((await gate.run("mkfs.ext4 /dev/sda", { language: "shell" })).status).toBe("rejected");
    await gate.close();
    await expect(open({ SH_RM_ROT: "deny" })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("SH_RM_ROOT") });
  });
});
