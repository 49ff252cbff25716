import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compiledCode } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const root = mkdtempSync(join(tmpdir(), "callgate-policy-"));
const folder = join(root, "project");
const env = { PATH: process.env["PATH"] ?? "", HOME: root, ...compiledCode, XDG_STATE_HOME: join(root, "state"), XDG_CONFIG_HOME: join(root, "config"), COLUMNS: "80" };

function callgate(...args: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = runCommand(["--trust", ...args], { cwd: folder, env });
  return { status, stdout, stderr };
}

/** The example, with other rules. */
function withRules(name: string, change: (text: string) => string): string {
  writeFileSync(join(folder, name), change(readFileSync(join(folder, "callgate.jsonc"), "utf8")));
  return name;
}

beforeAll(() => cpSync(fileURLToPath(new URL("../../../../examples/policy-folder", import.meta.url)), folder, { recursive: true }));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("callgate policy", { timeout: 300_000 }, () => {
  test("check holds the example against its tools and prints rules and files as Cedar", () => {
    const { status, stdout, stderr } = callgate("policy", "check");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain('forbid (\n  principal,\n  action == Action::"call",\n  resource == Tool::"bank.pay"\n)');
    expect(stdout).toMatch(/callgate\.jsonc:5:5 \(payments\): ask/);
    expect(stdout).toMatch(/policies\/money\.cedar:\d+ \(office-hours\): deny/);
    expect(stdout).toMatch(/ok · 9 rules\n$/);
    expect(JSON.parse(callgate("--json", "policy", "check").stdout)).toMatchObject({ mode: "enforce", findings: [] });
  });

  test("check names what no tool fits any more, with file, line and nearest name, and ends with 1", () => {
    const config = withRules("renamed.jsonc", (text) => text.replace('"ask": "bank.pay"', '"ask": "bank.pya"').replace("bank.close_*", "bank.shut_*"));
    const { status, stdout } = callgate("-c", config, "--json", "policy", "check");
    expect(status).toBe(1);
    expect((JSON.parse(stdout) as { findings: readonly { severity: string; place: string; message: string }[] }).findings.map(({ severity, place, message }) => [severity, place, message])).toEqual([
      ["error", "renamed.jsonc:5:5", 'there is no tool "bank.pya"; did you mean "bank.pay"?'],
      ["warning", "renamed.jsonc:6:5", "can match no tool there is"],
    ]);
    expect(callgate("-c", config, "policy", "check").stdout).toMatch(/\nerror renamed\.jsonc:5:5: there is no tool "bank\.pya"; did you mean "bank\.pay"\?\nwarning renamed\.jsonc:6:5: can match no tool there is\n$/);
    expect(callgate("-c", config, "search").stderr).toContain('there is no tool "bank.pya"');
  });

  test("a file that is wrong is refused by every command, with the place", () => {
    writeFileSync(join(folder, "wrong.cedar"), 'permit (principal, action == Action::"call", resource) when { resource.naem == "x" };');
    const config = withRules("wrong.jsonc", (text) => text.replace("policies/*.cedar", "wrong.cedar"));
    expect(callgate("-c", config, "search")).toMatchObject({ status: 2, stderr: expect.stringMatching(/CONFIG_INVALID: wrong\.cedar:1:63: .*did you mean `name`/) as string });
    const none = withRules("none.jsonc", (text) => text.replace("policies/*.cedar", "policy/*.cedar"));
    expect(callgate("-c", none, "search")).toMatchObject({ status: 2, stderr: expect.stringContaining('policy.files: "policy/*.cedar" names no file') as string });
  });

  test("test decides the example's cases, and says which come out otherwise", () => {
    expect(callgate("policy", "test", "cases.yaml")).toMatchObject({ status: 0, stdout: "ok · 12 cases\n" });
    const config = withRules("looser.jsonc", (text) => text.replace('"lte": 100 }, "/currency"', '"lte": 1000 }, "/currency"').replace('"ask": "bank.pay"', '"ask": "bank.pay", "when": { "role": "guest" }'));
    const { status, stdout } = callgate("-c", config, "policy", "test", "cases.yaml");
    expect(status).toBe(1);
    expect(stdout).toMatch(/a cent more asks +ask by payments +allow by small-payments\n1 case failed · 12 cases\n$/);
    writeFileSync(join(folder, "bad.yaml"), "cases:\n  - { tool: bank.pay, expct: allow }\n");
    expect(callgate("policy", "test", "bad.yaml")).toMatchObject({ status: 2, stderr: expect.stringContaining("bad.yaml holds no cases of a policy") as string });
    writeFileSync(join(folder, "worse.yaml"), "cases: [\n  {");
    expect(callgate("policy", "test", "worse.yaml")).toMatchObject({ status: 2, stderr: expect.stringMatching(/worse\.yaml:\d+:\d+: /) as string });
  });

  test("test and explain say of a result whether a program would get it", () => {
    const config = withRules("results.jsonc", (text) => text.replace('"rules": [', '"rules": [ { "id": "rich", "ask": "bank.balance", "on": "result", "when": { "result": { "/amount": { "gt": 1000 } } }, "reason": "Large balances are looked at" },'));
    writeFileSync(join(folder, "results.yaml"), "cases:\n  - { tool: bank.balance, args: { account: A1 }, result: { amount: 1250, currency: EUR }, expect: ask, rule: rich }\n  - { tool: bank.balance, result: { amount: 12, currency: EUR }, expect: allow }\n  - { tool: bank.balance, args: { account: A1 }, expect: allow }\n  - { name: wrong, tool: bank.balance, result: { amount: 12 }, expect: deny }\n  - { name: misfit, tool: bank.pay, args: { amount: much }, expect: ask }\n");
    expect(callgate("-c", config, "policy", "test", "results.yaml")).toMatchObject({ status: 1, stdout: expect.stringMatching(/wrong +deny +allow by default:\S+\nmisfit +ask +invalid input: [^\n]*account[^\n]*\n2 cases failed · 5 cases\n$/) as string });
    expect(callgate("-c", config, "policy", "explain", "bank.balance", '{"account":"A1"}', "--result", '{"amount":1250}')).toMatchObject({ status: 3, stdout: "the result of bank.balance is asked about by rich: Large balances are looked at\n" });
    expect(callgate("-c", config, "policy", "explain", "bank.balance", '{"account":"A1"}', "--result", '{"amount":1}')).toMatchObject({ status: 0, stdout: expect.stringContaining("is handed on by") as string });
    expect(callgate("policy", "explain", "bank.balance", "{}", "--result", "{")).toMatchObject({ status: 2, stderr: expect.stringContaining("--result is no JSON") as string });
  });

  test("explain, simulate and the record agree on calls that were made", () => {
    expect(callgate("policy", "explain", "bank.close_account", "{}")).toMatchObject({ status: 3, stdout: expect.stringMatching(/denied by closing.*\nthese arguments do not fit the tool, so that a call with them ends before any rule is asked: .*account.*\nthe tool does not exist for this caller.*\nwould help: An admin can close accounts\nwould help: with the role admin it would be asked about/) as string });
    const profiled = withRules("profiled.jsonc", (text) => text.replace('"rules": [', '"profiles": { "desk": { "user": "ann", "roles": ["clerk"] } }, "profile": "desk", "rules": ['));
    expect(JSON.parse(callgate("-c", profiled, "--json", "policy", "explain", "bank.close_account", "{}").stdout)).toMatchObject({ principal: { user: "ann", roles: ["clerk"] } });
    const { runId } = JSON.parse(callgate("--json", "call", "bank.balance", '{"account":"A1"}').stdout) as { runId: string };
    expect(JSON.parse(callgate("--json", "policy", "explain", `${runId}.0`).stdout)).toMatchObject({ tool: "bank.balance", recorded: { decision: "allow", ruleId: "default:read" }, explanation: { decision: { kind: "allow" } } });
    expect(callgate("policy", "simulate")).toMatchObject({ status: 0, stdout: "no change · 0 programs, 1 call and 1 result of 1 run\n" });
    const config = withRules("closed.jsonc", (text) => text.replace('"rules": [', '"rules": [ { "id": "closed", "deny": "bank.balance" },'));
    const simulated = callgate("-c", config, "--json", "policy", "simulate");
    expect(simulated.status).toBe(1);
    expect(JSON.parse(simulated.stdout)).toMatchObject({ runs: 1, calls: 1, leftOut: 0, changes: [{ callId: `${runId}.0`, tool: "bank.balance", before: { decision: "allow", ruleId: "default:read" }, after: { kind: "deny", ruleId: "closed" } }] });
    callgate("runs", "erase", runId);
    expect(callgate("policy", "simulate").stdout).toBe("no change · 0 programs, 0 calls and 0 results of 1 run · 2 left out: erased or not kept, or the tool is gone or has changed\n");
    expect(callgate("policy", "explain", "run_none.0")).toMatchObject({ status: 1, stderr: expect.stringContaining("RUN_NOT_FOUND") as string });
  });

  test("observe stops nothing, records what would have been, and is warned about", () => {
    const config = withRules("observed.jsonc", (text) => text.replace('"policy": {', '"policy": { "mode": "observe",'));
    const called = callgate("-c", config, "--json", "call", "bank.close_account", '{"account":"A1"}');
    expect(called).toMatchObject({ status: 0, stderr: expect.stringContaining("The policy is not enforced") as string });
    const { runId } = JSON.parse(called.stdout) as { runId: string };
    expect(callgate("-c", config, "runs", "show", runId).stdout).toContain("allowed, for the policy is not enforced; rule closing would have denied");
    const doctor = JSON.parse(callgate("-c", config, "--json", "doctor").stdout) as readonly { check: string }[];
    expect(doctor.find(({ check }) => check === "policy")).toMatchObject({ state: "warning", found: "not enforced (mode observe): every call is allowed" });
  });

  test("a program that may not run is not run, and is told so", () => {
    const config = withRules("no-programs.jsonc", (text) => text.replace('"rules": [', '"rules": [ { "id": "none", "deny": { "run": "typescript" }, "reason": "Closed today" },'));
    expect(callgate("-c", config, "exec", "-e", "return 1")).toMatchObject({ status: 3, stdout: "", stderr: expect.stringContaining("The program was not run: policy refused it: Closed today.") as string });
    expect(callgate("exec", "-e", "return 1")).toMatchObject({ status: 0, stdout: "1\n" });
  });
});
