import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { compiledCode } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const root = mkdtempSync(join(tmpdir(), "callgate-check-"));
const folder = join(root, "project");
mkdirSync(join(folder, "tools"), { recursive: true });
writeFileSync(
  join(folder, "tools/notes.ts"),
  `import { defineTool } from "callgate";
import { writeFileSync } from "node:fs";
import { z } from "zod";
export const get = defineTool({ description: "Read a note", effect: "read", input: z.object({ id: z.number() }), output: z.object({ text: z.string() }), handler: () => { writeFileSync("called", ""); return { text: "x" }; } });
export const add = defineTool({ description: "Keep a note", effect: "write", input: z.object({ text: z.string() }), handler: () => { writeFileSync("called", ""); return {}; } });
`,
);

function callgate(args: readonly string[], input = ""): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, ...compiledCode, XDG_STATE_HOME: join(root, "state"), XDG_CONFIG_HOME: join(root, "config") };
  return runCommand(["--trust", ...args], { cwd: folder, env, input });
}

describe("callgate check", { timeout: 120_000 }, () => {
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("says what is wrong with a file, at its place, runs nothing, and ends with 1", () => {
    writeFileSync(join(folder, "wrong.ts"), 'const note = await tools.notes.get({ idd: 1 });\nreturn note.txet;');
    const { status, stdout } = callgate(["check", "wrong.ts"]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/error TS\d+ at 1:\d+: .*id/);
    expect(stdout).toMatch(/rejected · \d errors?\n$/);
    const json = callgate(["--json", "check", "wrong.ts"]);
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "rejected", language: "typescript", diagnostics: [{ severity: "error", line: 1 }] });
  });

  test("a good program is 0, from a file, from standard input and from the command line, and is not run", () => {
    writeFileSync(join(folder, "good.ts"), 'return (await tools.notes.get({ id: 1 })).text;');
    expect(callgate(["check", "good.ts"])).toMatchObject({ status: 0, stdout: "ok\n" });
    expect(callgate(["check", "-"], "return (await tools.notes.get({ id: 1 })).text;")).toMatchObject({ status: 0, stdout: "ok\n" });
    const json = callgate(["--json", "check", "-e", "(await tools.notes.get({ id: 1 })).text"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "ok", form: "expression", diagnostics: [] });
    expect(callgate(["check", "--lane", "query", "-e", 'await tools.notes.add({ text: "x" })'])).toMatchObject({ status: 1, stdout: expect.stringContaining("LANE_WRITE") });
    expect(existsSync(join(folder, "called"))).toBe(false);
  });

  test("Python is checked by pyright against the same tools, and by the scanner", () => {
    writeFileSync(join(folder, "wrong.py"), 'from tools import notes\nnote = notes.get(idd=1)\nimport os\nos.system("ls")  # noqa\nnote["txet"]\n');
    const { status, stdout } = callgate(["--json", "check", "wrong.py"]);
    expect(status).toBe(1);
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; line: number }[] };
    expect(diagnostics.map(({ code, line }) => `${code} ${line}`)).toEqual(expect.arrayContaining(["PY_OS_SYSTEM 4", "reportCallIssue 2"]));
    expect(callgate(["check", "-l", "python", "-e", "from tools import notes\nnotes.get(id=1)['text']"])).toMatchObject({ status: 0, stdout: "ok\n" });
  });

  test("nothing, two programs or an unknown kind of file is a mistake of the command line", () => {
    for (const args of [["check"], ["check", "good.ts", "-e", "1"], ["check", "x.rb"], ["check", "missing.ts"], ["check", "-l", "cobol", "-e", "1"]]) expect(callgate(args).status, args.join(" ")).toBe(2);
  });
});
