import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";


function project(files: Readonly<Record<string, string>> = {}) {
  const { root, folder, env } = createCliProject(files, { CANARY_SECRET: "canary-7f3a" });
  const callgate = (args: readonly string[], input = "") => runCommand(args, { cwd: folder, env, input });
  return { root, folder, env, callgate };
}

const tools = `
import { defineTool, ToolError } from "callgate";
import { writeFileSync } from "node:fs";
import { z } from "zod";
const notes = new Map([[1, "first"]]);
export const get = defineTool({ description: "Read a note", effect: "read", input: z.object({ id: z.number() }), output: z.object({ text: z.string() }),
  handler({ id }) { const text = notes.get(id); if (text === undefined) throw new ToolError({ code: "NOTE_NOT_FOUND", message: "No note " + id, notApplied: true }); return { text }; } });
export const add = defineTool({ description: "Keep a note", effect: "write", input: z.object({ text: z.string() }), output: z.object({ id: z.number() }),
  handler({ text }) { notes.set(notes.size + 1, text); return { id: notes.size }; } });
export const hang = defineTool({ description: "Never answers", effect: "read", timeoutMs: 300, input: z.object({}), handler: () => { writeFileSync("called", ""); return new Promise(() => {}); } });
`;

const runShape = z.object({
  status: z.string(),
  value: z.unknown().optional(),
  runId: z.string(),
  diagnostics: z.array(z.looseObject({ line: z.number(), message: z.string() })),
  calls: z.array(z.looseObject({ id: z.string(), tool: z.string(), effect: z.string(), outcome: z.string(), effectStatus: z.string(), durationMs: z.number() })),
  tokens: z.looseObject({ result: z.number() }),
  console: z.array(z.unknown()),
});

// Each test starts processes that load the whole program, several times on a busy machine.
describe("callgate", { timeout: 120_000 }, () => {
  test("init, search, exec work in an empty folder", () => {
    const { callgate, folder } = project();
    expect(callgate(["init"])).toMatchObject({ status: 0 });
    expect(existsSync(join(folder, "callgate.jsonc"))).toBe(true);
    expect(callgate(["search"]).stdout).toContain("notes.get");
    expect(JSON.parse(callgate(["search", "--detail", "namespace", "--json"]).stdout)).toEqual([{ namespace: "notes", toolCount: expect.any(Number) }]);
    const run = callgate(["exec", "-e", "return (await tools.notes.get({ id: 1 })).text"]);
    expect(run).toMatchObject({ status: 0, stdout: "Programs import tools; every call passes one gate\n" });
    expect(callgate(["init"]).stdout).toContain("nothing was written");
  });

  test("init trusts nothing that it did not write", () => {
    const { callgate, folder } = project({ "tools/notes.ts": `${tools}\nwriteFileSync("loaded", "");` });
    const init = callgate(["--json", "init"]);
    expect(JSON.parse(init.stdout)).toMatchObject({ written: ["callgate.jsonc"], trusted: false });
    expect(callgate(["init"]).stderr).toContain("callgate trust");
    expect(callgate(["search"]).status).toBe(2);
    expect(existsSync(join(folder, "loaded"))).toBe(false);
  });

  test("--json is one JSON value also for a wrong command line and for a result that is not there", () => {
    const { callgate } = project();
    for (const args of [["nope"], ["exec"], ["read"], ["search", "--limit", "x"], ["search", "--detail", "all"], ["read", "result://run_0000000000000000000000000/1"]]) {
      const { status, stdout } = callgate(["--json", ...args]);
      expect(status).not.toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ status: "failed", error: { code: expect.any(String) as unknown, message: expect.any(String) as unknown } });
    }
  });

  test("nothing of a folder is loaded before it is trusted, also where nobody can be asked", () => {
    const { callgate, folder } = project({ "tools/notes.ts": `${tools}\nwriteFileSync("loaded", "");` });
    const refused = callgate(["search"]);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain("callgate trust");
    expect(existsSync(join(folder, "loaded"))).toBe(false);
    expect(callgate(["trust"])).toMatchObject({ status: 0 });
    expect(callgate(["search"]).stdout).toContain("notes.get");
    expect(callgate(["trust", "--remove"])).toMatchObject({ status: 0 });
    expect(callgate(["search"]).status).toBe(2);
  });

  test("files that do not import callgate are never run", () => {
    const { callgate, folder } = project({ "tools/notes.ts": tools, "tools/other.ts": 'import { writeFileSync } from "node:fs"; writeFileSync("loaded", ""); export {};' });
    expect(callgate(["--trust", "search"]).status).toBe(0);
    expect(existsSync(join(folder, "loaded"))).toBe(false);
  });

  test("tool files are modules also where npm init said commonjs", () => {
    const { callgate } = project({ "tools/notes.ts": tools, "package.json": '{ "type": "commonjs" }' });
    expect(callgate(["--trust", "call", "notes.get", '{"id":1}'])).toMatchObject({ status: 0, stdout: '{\n  "text": "first"\n}\n', stderr: "" });
  });

  test("run --json prints one object of a pinned shape", () => {
    const { callgate } = project({ "tools/notes.ts": tools });
    const { status, stdout } = callgate(["--trust", "--json", "run", "-"], "console.log('hi'); const note = await tools.notes.get({ id: 1 }); return note.text.length");
    expect(status).toBe(0);
    const object: unknown = JSON.parse(stdout);
    expect(runShape.parse(object)).toMatchObject({ status: "completed", value: 5, calls: [{ tool: "notes.get", effect: "read", outcome: "ok", effectStatus: "none" }] });
    expect(Object.keys(object as object)).toEqual(expect.arrayContaining(["status", "value", "console", "diagnostics", "calls", "tokens", "runId"]));
  });

  test.each([
    ["a program that returns", "return 1", 0],
    ["a program that throws", "throw new Error('x')", 1],
    ["a type error", "const n: number = 'x'; return n", 1],
    ["a write nobody allowed", "return await tools.notes.add({ text: 'x' })", 3],
    ["a program that needs a review, and nobody to give one", "return eval('1') as number", 3],
    ["an endless loop", "while (true) {}", 6],
    ["a tool past its deadline", "return await tools.notes.hang({})", 6],
  ])("%s", (_what, program, code) => {
    const { callgate } = project({ "tools/notes.ts": tools });
    expect(callgate(["--trust", "run", "--limit", "cpuMs=300", "-"], program).status).toBe(code);
  });

  test.each([
    [["call"], "missing required argument"],
    [["run"], "Name a program, - for standard input, or an approved plan with --apply"],
    [["frobnicate"], "unknown command"],
    [["run", "nothing.ts"], "Cannot read nothing.ts"],
    [["run", "picture.png"], "Cannot run picture.png"],
    [["call", "notes.get", "{id: 1}"], "The arguments are not JSON"],
    [["exec", "--limit", "cpuMs=many", "-e", "1"], "--limit takes NAME=NUMBER"],
    [["read", "nonsense"], "A handle looks like"],
  ])("%j is a matter of usage", (args, message) => {
    const { callgate } = project();
    const { status, stderr } = callgate(args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  test("a rule in the configuration allows a write, and a direct call takes the same gate", () => {
    const { callgate } = project({ "tools/notes.ts": tools, "callgate.jsonc": '{ "rules": [{ "allow": "notes.add" }] }' });
    const called = callgate(["--trust", "--json", "call", "notes.add", '{"text":"x"}']);
    expect(JSON.parse(called.stdout)).toMatchObject({ outcome: "ok", effectStatus: "done", value: { id: 2 } });
    const wrong = callgate(["--json", "call", "notes.add", '{"txt":"x"}']);
    expect(wrong.status).toBe(1);
    expect(JSON.parse(wrong.stdout)).toMatchObject({ outcome: "invalid_input", effectStatus: "none", error: { code: "INVALID_INPUT" } });
  });

  test("the journal lists, shows and replays a run of an earlier process", () => {
    const { callgate } = project({ "tools/notes.ts": tools });
    const { runId } = runShape.parse(JSON.parse(callgate(["--trust", "--json", "exec", "-e", "return (await tools.notes.get({ id: 1 })).text"]).stdout));
    expect(callgate(["runs", "ls"]).stdout).toContain(runId);
    expect(callgate(["runs"])).toMatchObject({ status: 0, stdout: expect.stringContaining(runId) as string });
    expect(callgate(["runs", "show", runId]).stdout).toContain("notes.get");
    expect(callgate(["runs", "replay", runId])).toMatchObject({ status: 0, stdout: `${runId} replays equal; nothing was called\n` });
    expect(callgate(["runs", "show", "run_nope"]).stderr).toContain("There is no run run_nope");
  });

  test("a run that waits says what brings it on, and its record never doubts a write that has not begun", () => {
    const { callgate } = project({ "tools/notes.ts": tools, "callgate.jsonc": '{ "approvals": "keep" }' });
    callgate(["trust"]);
    const run = callgate(["exec", "-e", 'return await tools.notes.add({ text: "kept" })']);
    expect(run.status).toBe(5);
    const approvalId = /callgate approvals approve (apr_\w+)/.exec(run.stderr)?.[1] ?? "";
    const runId = /callgate runs resume (run_\w+)/.exec(run.stderr)?.[1] ?? "";
    expect(callgate(["runs", "show", runId]).stdout).toContain("#0 notes.add has not begun: nobody has answered yet");
    expect(callgate(["approvals", "approve", approvalId]).status).toBe(0);
    expect(callgate(["runs", "resume", runId]).stdout).toContain('"id": 2');
    const { stdout } = callgate(["runs", "show", runId]);
    expect(stdout).toContain("#0 allow by rule default:write, answered by");
    expect(stdout).not.toContain("no recorded end");
  });

  test("search into a pipe cuts nothing", () => {
    const description = "Read a note, ".repeat(9) + "by its id";
    const { callgate } = project({ "tools/notes.ts": tools.replace("Read a note", description) });
    expect(callgate(["--trust", "search"]).stdout).toContain(description);
  });

  test("describe and types show what a program is checked against", () => {
    const { callgate } = project({ "tools/notes.ts": tools });
    expect(callgate(["--trust", "types"]).stdout).toContain('declare module "tools/notes"');
    expect(callgate(["types", "--language", "python"]).stdout).toContain("def get(");
    const described = callgate(["describe", "notes.get", "notes.gett"]);
    expect(described.stdout).toContain("Read a note");
    expect(described.stderr).toContain('No tool "notes.gett"; nearest: notes.get');
    expect(described.status).toBe(1);
    expect(callgate(["describe", "sendEmail"]).stderr).toContain('No tool "sendEmail"; find one with: callgate search "sendEmail"');
  });

  test("a server that is missing is said, and the rest works", () => {
    const { callgate } = project({ "tools/notes.ts": tools, "callgate.jsonc": '{ "mcpServers": { "gone": { "command": "callgate-no-such-program" } } }' });
    const { status, stdout, stderr } = callgate(["--trust", "exec", "-e", "return (await tools.notes.get({ id: 1 })).text"]);
    expect([status, stdout]).toEqual([0, "first\n"]);
    expect(stderr).toMatch(/^note gone: .*could not be started: the command was not found.* callgate doctor says more\.\n(?!note)/);
    // Commands that have nothing to do with it say nothing of it.
    expect(callgate(["call", "notes.get", '{"id":1}']).stderr).toBe("");
    expect(callgate(["runs", "ls"]).stderr).toBe("");
    const doctor = callgate(["doctor"]);
    expect(doctor.stderr).toBe("");
    expect(doctor.stdout.match(/callgate-no-such-program/g)?.length).toBe(1);
    expect(doctor.stdout).toContain("run the command by hand");
    expect(doctor.status).toBe(1);
  });

  test("paths of the configuration start at its folder, wherever the command is called", () => {
    const { root, env } = project({ "callgate.jsonc": '{ "journal": { "path": "here/journal.db" }, "mcpServers": { "gone": { "command": "./nothing", "cwd": "servers" } } }', "below/x.txt": "", "servers/x.txt": "" });
    const below = join(root, "project", "below");
    expect(runCommand(["--trust", "exec", "-e", "return 1"], { cwd: below, env })).toMatchObject({ status: 0, stdout: "1\n" });
    expect(existsSync(join(root, "project", "here", "journal.db"))).toBe(true);
    expect(existsSync(join(below, "here"))).toBe(false);
  });

  test("an error is told once, its code before its message", () => {
    const { callgate } = project({ "tools/notes.ts": tools });
    const denied = callgate(["--trust", "exec", "-e", "return await tools.notes.add({ text: 'x' })"]).stderr;
    expect(denied.match(/needs a person's approval/g)?.length).toBe(1);
    expect(denied).toMatch(/failed APPROVAL_UNAVAILABLE at 1:\d+: notes\.add needs/);
    const caught = callgate(["exec", "-e", "try { await tools.notes.get({ id: 9 }) } catch { return 0 }"]).stderr;
    expect(caught).toContain("NOTE_NOT_FOUND: No note 9");
  });

  test("durations in JSON are rounded", () => {
    const { callgate } = project({ "tools/notes.ts": tools });
    const text = callgate(["--trust", "--json", "exec", "-e", "return (await tools.notes.get({ id: 1 })).text"]).stdout;
    const { runId } = runShape.parse(JSON.parse(text));
    for (const json of [text, callgate(["--json", "runs", "show", runId]).stdout]) {
      const found = [...json.matchAll(/"durationMs":([\d.]+)/g)].map(([, number]) => number ?? "");
      expect(found.length).toBeGreaterThan(1);
      for (const number of found) expect(number).toMatch(/^\d+(?:\.\d{1,2})?$/);
    }
  });

  test("a broken configuration names file, line and fix", () => {
    const { callgate } = project({ "callgate.jsonc": '{ "limts": {} }' });
    const { status, stderr } = callgate(["--trust", "search"]);
    expect(stderr).toContain('limts: unknown key; did you mean "limits"?');
    expect(status).toBe(2);
  });

  test("a configuration file that is not there is said to be missing, not untrusted", () => {
    const { callgate } = project();
    const { status, stderr } = callgate(["--config", "none.jsonc", "search"]);
    expect(stderr).toContain("There is no configuration file");
    expect(status).toBe(2);
  });

  test("doctor prints what is wrong in full", () => {
    const { callgate } = project({ "callgate.jsonc": '{ "mcpServers": { "gone": { "command": "x", "env": { "TOKEN": "env:CALLGATE_NOT_SET" } } } }' });
    expect(callgate(["--trust", "doctor"]).stdout).toContain("CALLGATE_NOT_SET, which is not set; set it");
  });

  test("Ctrl-C ends a run, and the journal knows how it stands", async () => {
    const { folder, env, callgate } = project({ "tools/notes.ts": tools.replace("timeoutMs: 300", "timeoutMs: 60000") });
    callgate(["trust"]);
    const child = spawn(process.execPath, [callgateBin, "--json", "exec", "-e", "return await tools.notes.hang({})"], { cwd: folder, env });
    await vi.waitUntil(() => existsSync(join(folder, "called")), { timeout: 25_000 });
    child.kill("SIGINT");
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect(code).toBe(130);
    expect(JSON.parse(callgate(["--json", "runs", "ls"]).stdout)).toMatchObject([{ status: "cancelled" }]);
  });

  test("doctor uses every part", () => {
    const { callgate } = project({ "tools/notes.ts": tools });
    const { status, stdout } = callgate(["--trust", "--json", "doctor"]);
    const findings = z.array(z.looseObject({ check: z.string(), state: z.string() })).parse(JSON.parse(stdout));
    // Nobody has made an approver's key here.
    expect(findings.filter((finding) => finding.state !== "ok")).toMatchObject([{ check: "approvals", state: "warning" }]);
    expect(findings.map((finding) => finding.check)).toEqual(expect.arrayContaining(["node", "state folder", "check", "sandbox", "limits", "journal", "source notes"]));
    expect(status).toBe(0);
  });
});
