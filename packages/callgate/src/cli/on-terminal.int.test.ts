import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const tools = `
import { defineTool } from "callgate";
import { writeFileSync } from "node:fs";
import { z } from "zod";
export const put = defineTool({ description: "Writes \\u001b[31mred", effect: "write", input: z.object({}), handler: () => { writeFileSync("called", ""); return "put"; } });
export const keep = defineTool({ description: "Keeps a note", effect: "write", input: z.object({ text: z.string().min(3), urgent: z.boolean().optional() }), handler: ({ text }) => "kept " + text });
export const escape = defineTool({ description: "Says something", effect: "read", input: z.object({}), handler: () => "a\\u001b[2Jb\\u0007\\u009b1m\\u202e" });
`;

const script = fileURLToPath(new URL("fixtures/on_terminal.py", import.meta.url));
const hasTerminals = spawnSync("python3", ["-c", "import pty, os; os.close(pty.openpty()[0])"]).status === 0;

/** What is typed once a text has been shown; `{1}` is its first group. */
type Step = readonly [shown: string, typed: string];

function project(files: Readonly<Record<string, string>> = { "tools/notes.ts": tools }) {
  const { folder, env } = createCliProject(files, { TERM: "xterm" });
  const onTerminal = (words: readonly string[], steps: readonly Step[] = [], columns = 100) => {
    const job = { command: [process.execPath, callgateBin, ...words], cwd: folder, env, columns, steps, timeoutS: 110 };
    return JSON.parse(spawnSync("python3", [script], { input: JSON.stringify(job), encoding: "utf8" }).stdout) as { readonly shown: string; readonly status: number; readonly left: readonly string[] };
  };
  const callgate = (...words: readonly string[]) => runCommand(["--trust", ...words], { cwd: folder, env });
  return { onTerminal, callgate, wasCalled: () => existsSync(join(folder, "called")) };
}

const interrupt = "\u0003";
const endOfInput = "\u0004";

describe.skipIf(!hasTerminals)("callgate on a pseudo-terminal (skipped where python3 makes none)", { timeout: 240_000 }, () => {
  test("a question about a call is answered with its word; anything else, Ctrl-C and the end of input are no permission", () => {
    const { onTerminal, wasCalled } = project();
    const put = ["--trust", "call", "notes.put"];
    const denied = onTerminal(put, [["to allow this one call.*> ", "yes\r"]]);
    expect(denied).toMatchObject({ status: 3, left: [] });
    // Why, and what to do, not the code alone.
    expect(denied.shown).toContain("notes.put was refused");
    expect(onTerminal(put, [["to allow this one call.*> ", interrupt]])).toMatchObject({ status: 130, left: [] });
    expect(onTerminal(put, [["to allow this one call.*> ", endOfInput]])).toMatchObject({ status: 3, shown: expect.stringContaining("the input of the terminal ended"), left: [] });
    expect(wasCalled()).toBe(false);
    expect(onTerminal(put, [["Type (?:\\u001b\\[1m)?([a-z]+)\\S* to allow this one call.*> ", "{1}\r"]])).toMatchObject({ status: 0, shown: expect.stringMatching(/put\r\n/), left: [] });
    expect(wasCalled()).toBe(true);
  });

  test("Ctrl-C at a question of runs resume leaves it open, and the run as it is", () => {
    const { onTerminal, callgate, wasCalled } = project();
    const begun = callgate("--json", "exec", "-e", 'import { notes, waitFor } from "tools"; await waitFor("go"); return await notes.put({})');
    const { runId } = JSON.parse(begun.stdout) as { readonly runId: string };
    callgate("runs", "signal", runId, "go");
    expect(onTerminal(["--trust", "runs", "resume", runId], [["to allow this one call.*> ", interrupt]])).toMatchObject({ status: 130, shown: expect.stringContaining("was given back as it stands"), left: [] });
    expect(wasCalled()).toBe(false);
    expect(callgate("runs", "ls").stdout).toMatch(new RegExp(`${runId} +suspended`));
    const [asked] = JSON.parse(callgate("--json", "approvals", "ls").stdout) as readonly { readonly question: { readonly approvalId: string; readonly runId: string } }[];
    expect(asked?.question.runId).toBe(runId);
    callgate("approvals", "approve", asked?.question.approvalId ?? "");
    expect(callgate("runs", "resume", runId).status).toBe(0);
    expect(wasCalled()).toBe(true);
  });

  test("the question whether a folder is trusted: only yes is yes", () => {
    const { onTerminal } = project();
    const asked = "Type yes to agree: ";
    for (const typed of ["y\r", "\r", endOfInput]) expect(onTerminal(["search"], [[asked, typed]]), typed).toMatchObject({ status: 2, shown: expect.stringContaining("NOT_TRUSTED"), left: [] });
    const interrupted = onTerminal(["search"], [[asked, interrupt]]);
    expect(interrupted).toMatchObject({ status: 130, left: [] });
    expect(interrupted.shown).not.toContain("INTERNAL");
    expect(onTerminal(["search"], [[asked, "yes\r"]])).toMatchObject({ status: 0, shown: expect.stringContaining("notes.escape"), left: [] });
  });

  test("a value, a description and a name do nothing to the terminal, also one that says it has 0 columns", () => {
    const { onTerminal } = project();
    for (const columns of [0, 40]) {
      const value = onTerminal(["--trust", "call", "notes.escape"], [], columns);
      expect(value.status).toBe(0);
      expect(value.shown).toContain("a␛[2Jb␇\\u009b1m\\u202e");
      expect(value.shown).not.toContain("\u001b[2J");
      const found = onTerminal(["--trust", "search"], [], columns);
      expect(found).toMatchObject({ status: 0, shown: expect.stringMatching(/notes\.escape +read +Says/) });
      expect(found.shown).not.toContain("\u001b[31m");
    }
  });

  test("tools try: a form that checks each field, asks before a write, and shows the line that does the same", () => {
    const { onTerminal } = project();
    const tried = onTerminal(["--trust", "tools", "try", "notes.keep"], [["text", "ab\r"], ["at least 3|fewer than 3|3 char", "cd it's\r"], ["Which of these as well", "\r"], ["Call it\\?", "y"], ["Type (?:\\u001b\\[1m)?([a-z]+)\\S* to allow this one call.*> ", "{1}\r"]]);
    expect(tried.shown).toContain("abcd it");
    expect(tried.shown).toMatch(/callgate call notes\.keep '\{"text":"abcd it'\\''s"\}'/);
    expect(tried.left).toEqual([]);
    const left = onTerminal(["--trust", "tools", "try", "notes.keep"], [["text", interrupt]]);
    expect(left).toMatchObject({ status: 1, left: [] });
    expect(left.shown).toContain("nothing was called");
  });

  test("an MCP server's question is asked as its own, and its answer goes to it; without the setting it is refused", () => {
    const server = fileURLToPath(new URL("../../../source-mcp/src/fixtures/scripted-server.mjs", import.meta.url));
    const config = (elicitation: boolean) => JSON.stringify({ mcpServers: { asking: { command: process.execPath, args: [server, "ok"], effects: { ask: "read" }, elicitation } } });
    const question = { mode: "form", message: "Which branch?", requestedSchema: { type: "object", properties: { branch: { type: "string" } }, required: ["branch"] } };
    const words = ["--trust", "call", "asking.ask", JSON.stringify({ question })];
    const asked = project({ "callgate.jsonc": config(true) }).onTerminal(words, [["Which branch", ""], ["Answer asking\\?", "\u001b[B\r"], ["branch", "main\r"]]);
    expect(asked).toMatchObject({ status: 0, left: [], shown: expect.stringContaining('The MCP server "asking" asks you') as string });
    expect(asked.shown).toMatch(/"branch": ?"main"|branch: "?main/);
    expect(project({ "callgate.jsonc": config(false) }).onTerminal(words).shown).toContain("Callgate does not answer elicitation");
  });
});
