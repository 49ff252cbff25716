import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBubblewrapLauncher } from "@callgate/sandbox-process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate, defineTool } from "./index.ts";
import type { CallgateOptions } from "./index.ts";
import type { Gate, RunResult } from "./index.ts";
import { compiledCode } from "./cli/fixtures/cli-project.ts";
import { runCommand } from "./cli/fixtures/run-command.ts";

const probe = await createBubblewrapLauncher().probe();
const why = probe.kind === "ready" ? "" : ` (skipped: ${probe.reason}; ${probe.fix})`;

const asked: number[] = [];
const getCustomer = defineTool({ name: "get_customer", description: "Reads one customer", effect: "read", input: z.object({ id: z.number() }), output: z.object({ id: z.number(), name: z.string() }), handler: ({ id }) => { asked.push(id); return { id, name: "Ada" }; } });

const valueOf = ({ value, error, diagnostics }: RunResult): unknown => (value?.kind === "whole" ? value.value : [error, diagnostics]);

describe.skipIf(probe.kind !== "ready")(`programs in Node, through a gate${why}`, { timeout: 120_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-node-"));
  const gates: Gate[] = [];
  const open = async (options: CallgateOptions = {}): Promise<Gate> => {
    const gate = await createCallgate({ stateFolder: join(root, "state"), folder: root, tools: { crm: [getCustomer] }, ...options });
    gates.push(gate);
    return gate;
  };
  let gate: Gate;
  beforeAll(async () => {
    chmodSync(root, 0o755); // Root starts guests as another user.
    mkdirSync(join(root, "node_modules/greeter"), { recursive: true });
    writeFileSync(join(root, "node_modules/greeter/package.json"), '{ "name": "greeter", "version": "1.0.0", "type": "module", "exports": "./greeter.js" }');
    writeFileSync(join(root, "node_modules/greeter/greeter.js"), "export const greet = (name) => `hello ${name}`;\nexport default greet;\n");
    gate = await open({ node: { packages: ["greeter"] }, sandbox: { mounts: [{ host: "node_modules", guest: "/node_modules", mode: "ro" }] } });
  });
  afterAll(async () => {
    for (const one of gates) await one.close();
    rmSync(root, { recursive: true, force: true });
  });

  test("a program has Node's modules, a mounted package and the tools, and its files come back", async () => {
    const result = await gate.run(
      'import { writeFileSync } from "node:fs";\nimport greet, { greet as again } from "greeter";\nimport { crm } from "tools";\nconst customer: { name: string } = await crm.get_customer({ id: 7 });\nwriteFileSync("out/hello.txt", greet(customer.name));\nreturn [again("x"), typeof process.pid, (await import("node:path")).join("a", "b"), require("greeter").greet("y")];',
      { language: "node" },
    );
    expect(valueOf(result)).toEqual(["hello x", "number", "a/b", "hello y"]);
    expect(result.calls).toMatchObject([{ tool: "crm.get_customer", outcome: "ok" }]);
    expect(result.artifacts).toMatchObject([{ name: "hello.txt", sizeBytes: 9 }]);
  });

  test("the check knows tools and Node, and refuses a package that is not named", async () => {
    expect((await gate.run("return (await tools.crm.get_customer({ id: 7 })).address", { language: "node" })).diagnostics).toMatchObject([{ code: "TS2339", line: 1 }]);
    expect((await gate.run('import { readFileSync } from "node:fs";\nreturn readFileSync("x").wrong;', { language: "node" })).diagnostics).toMatchObject([{ code: "TS2339", line: 2 }]);
    expect((await gate.run('import _ from "lodash";\nreturn _;', { language: "node" })).diagnostics).toMatchObject([{ code: "IMPORT_NOT_ALLOWED", line: 1 }]);
  });

  test("an error stands at its place in the program's own text, below its imports", async () => {
    expect(await gate.run('import { readFileSync } from "node:fs";\nconst a = 1;\nreturn readFileSync("missing" + a);', { language: "node" })).toMatchObject({ status: "failed", error: { code: "ENOENT", line: 3 } });
  });

  test("TypeScript stays in the embedded sandbox, which refuses Node's modules, unless the configuration says otherwise", async () => {
    expect((await gate.run('import { readFileSync } from "node:fs";\nreturn readFileSync')).status).toBe("rejected");
    const all = await open({ sandbox: { javascript: "node" } });
    for (const language of ["typescript", "javascript"]) expect(valueOf(await all.run('import { sep } from "node:path";\nreturn [sep, (await tools.crm.get_customer({ id: 1 })).name];', { language }))).toEqual(["/", "Ada"]);
    const { runId } = await all.run("return 1");
    await expect(all.runs.replay(runId)).rejects.toMatchObject({ code: "REPLAY_UNAVAILABLE" });
    await expect(open({ sandbox: { javascript: "node", launcher: "deno" } })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  test.each([
    ["node", 'const customer = await tools.crm.get_customer({ id: 7 });\nreturn customer.name;', 'const customer = await tools.crm.get_customer({ id: 7 });\nreturn `${customer.name.toUpperCase()}!`;', "return (await tools.crm.get_customer({ id: 8 })).name;"],
    ["python", 'from tools import crm\ncrm.get_customer(id=7)["name"]', 'from tools import crm\ncustomer = crm.get_customer(id=7)\ncustomer["name"].upper() + "!"', 'from tools import crm\ncrm.get_customer(id=8)["name"]'],
  ])("a program of %s is edited against its recorded answers, in its own interpreter: nothing is called, and it stops at a new call", async (language, program, changed, other) => {
    asked.length = 0;
    const first = await gate.run(program, { language });
    const { runId } = first;
    expect(valueOf(first)).toBe("Ada");
    const calls = (await gate.runs.list({ kind: "program" })).length;
    const { result, unused, newCall } = await gate.runs.edit(runId, { program: changed });
    expect(valueOf(result)).toBe("ADA!");
    expect([unused, newCall]).toEqual([[], undefined]);
    expect(result.calls).toMatchObject([{ tool: "crm.get_customer", effectStatus: "none", recorded: { runId } }]);
    const stopped = await gate.runs.edit(runId, { program: other });
    expect(stopped).toMatchObject({ newCall: { tool: "crm.get_customer", args: { id: 8 } }, unused: [{ tool: "crm.get_customer" }] });
    expect((await gate.runs.list({ kind: "program" })).length).toBe(calls + 2);
    expect(asked).toEqual([7]);
  });

  test("callgate run FILE --sandbox bubblewrap, exec -l node and check -l node", () => {
    writeFileSync(join(root, "program.ts"), 'import os from "node:os";\nconst user: number = os.userInfo().uid;\nreturn user > 0;\n');
    const callgate = (...args: string[]): { readonly status: number | null; readonly stdout: string } => runCommand(args, { cwd: root, env: { PATH: process.env["PATH"] ?? "", HOME: root, ...compiledCode, XDG_STATE_HOME: join(root, "cli") } });
    expect(callgate("run", "program.ts", "--sandbox", "bubblewrap")).toMatchObject({ status: 0, stdout: "true\n" });
    expect(callgate("exec", "-l", "node", "-e", 'import { basename } from "node:path"; return basename("/a/b")')).toMatchObject({ status: 0, stdout: "b\n" });
    expect(callgate("check", "program.ts").status).toBe(1);
    expect(callgate("check", "-l", "node", "program.ts")).toMatchObject({ status: 0, stdout: "ok\n" });
  });
});
