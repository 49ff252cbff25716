import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { callgateBin, compiledCode, createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const example = fileURLToPath(new URL("../../../../examples/agent-desk", import.meta.url));
const tool = `
import { appendFileSync } from "node:fs";
import { defineTool } from "callgate";
export const pay = defineTool({ description: "Pays", effect: "write", input: { type: "object" }, handler: (args) => { appendFileSync("paid.txt", JSON.stringify(args) + "\\n"); return "paid"; } });`;
const script = [{ calls: [{ tool: "bank.pay", input: { amount: 5 }, callId: "p" }, { tool: "ask_user", input: { question: "Which month?" }, callId: "q" }] }, "Paid for May."];
const project = createCliProject({
  "callgate.jsonc": JSON.stringify({ approvals: "keep", agent: { provider: "scripted", script: "script.json", mode: "tools" } }),
  "script.json": JSON.stringify(script),
  "rest.json": JSON.stringify(script.slice(1)),
  "rest.jsonc": JSON.stringify({ approvals: "keep", agent: { provider: "scripted", script: "rest.json", mode: "tools" } }),
  "none.jsonc": "{}",
  "tools/bank.ts": tool,
}, {});
afterAll(() => rmSync(project.root, { recursive: true, force: true }));

function callgate(...args: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = runCommand(["--trust", ...args], { cwd: project.folder, env: project.env });
  return { status, stdout, stderr };
}

test("agent ends as suspended where a person is needed, and goes on with the answers in another process", { timeout: 600_000 }, () => {
  const first = callgate("--json", "agent", "pay", "the", "rent", "--session", "talk.json");
  expect(first.status).toBe(5);
  const result = JSON.parse(first.stdout) as { readonly stop: { readonly waits: readonly { readonly kind: string; readonly questions?: readonly { readonly approvalId: string }[] }[] }; readonly runId: string };
  expect(result.stop.waits.map(({ kind }) => kind)).toEqual(["approval", "question"]);
  expect(existsSync(join(project.folder, "paid.txt"))).toBe(false);
  const [waiting] = result.stop.waits;
  expect(callgate("approvals", "approve", waiting?.questions?.[0]?.approvalId ?? "")).toMatchObject({ status: 0 });

  const resumed = callgate("-c", "rest.jsonc", "agent", "--resume", "--session", "talk.json", "--answer", "q=May");
  expect(resumed).toMatchObject({ status: 0, stdout: "Paid for May.\n" });
  expect(resumed.stderr).toContain("bank.pay effect done");
  expect(resumed.stderr).toContain("scripted/script");
  expect(readFileSync(join(project.folder, "paid.txt"), "utf8")).toBe('{"amount":5}\n');
  expect(callgate("-c", "none.jsonc", "agent", "hello")).toMatchObject({ status: 2, stderr: expect.stringContaining("npm i @ai-sdk/anthropic") as string });
});

const onTerminal = fileURLToPath(new URL("fixtures/on_terminal.py", import.meta.url));
const hasTerminals = spawnSync("python3", ["-c", "import pty, os; os.close(pty.openpty()[0])"]).status === 0;

test.skipIf(!hasTerminals)("a conversation on a terminal: the model asks, a call asks, and the next task goes on from there (skipped where python3 makes no terminal)", { timeout: 600_000 }, () => {
  const talk = createCliProject({
    "callgate.jsonc": JSON.stringify({ agent: { provider: "scripted", script: "script.json", mode: "tools" } }),
    "script.json": JSON.stringify([script[0], "Paid.", "As I said."]),
    "tools/bank.ts": tool,
  }, { TERM: "xterm" });
  const steps = [["you\\S* ", "pay the rent\r"], ["Type (?:\\u001b\\[1m)?([a-z]+)\\S* to allow this one call.*> ", "{1}\r"], ["Which month.*answer\\S* ", "May\r"], ["Paid\\..*you\\S* ", "sure?\r"], ["As I said\\..*you\\S* ", "\r"]];
  const job = { command: [process.execPath, callgateBin, "--trust", "agent"], cwd: talk.folder, env: talk.env, columns: 100, steps, timeoutS: 110 };
  const { status, left, shown } = JSON.parse(spawnSync("python3", [onTerminal], { input: JSON.stringify(job), encoding: "utf8" }).stdout) as { readonly status: number; readonly left: readonly string[]; readonly shown: string };
  expect({ status, left, shown: left.length === 0 ? "" : shown }).toEqual({ status: 0, left: [], shown: "" });
  expect(readFileSync(join(talk.folder, "paid.txt"), "utf8")).toBe('{"amount":5}\n');
  rmSync(talk.root, { recursive: true, force: true });
});

test("the folder of examples/agent-desk works in the terminal, and its story ends as it checks", { timeout: 600_000 }, () => {
  const desk = createCliProject({}, {});
  try {
    cpSync(example, desk.folder, { recursive: true });
    const { status, stdout, stderr } = runCommand(["--trust", "agent", "Remind"], { cwd: desk.folder, env: desk.env });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "All five customers with overdue invoices were reminded, each once, with what they owe together.\n" });
    expect(stderr).toContain("program completed effect done");
    const templates = runCommand(["--json", "templates"], { cwd: desk.folder, env: desk.env });
    expect(JSON.parse(templates.stdout)).toMatchObject([{ name: "remind", tools: ["invoices.list", "mail.remind"], missing: [] }]);
    const story = spawnSync(process.execPath, [join(example, "agent-desk.ts")], { env: { PATH: process.env["PATH"], HOME: desk.root, ...compiledCode }, encoding: "utf8", timeout: 120_000 });
    expect({ status: story.status, stderr: story.stderr }).toEqual({ status: 0, stderr: "" });
    expect(story.stdout).toMatch(/code: 2 turns, 1 calls.*tools: 3 turns, 6 calls.*times fewer tokens in\n$/s);
  } finally {
    rmSync(desk.root, { recursive: true, force: true });
  }
});
