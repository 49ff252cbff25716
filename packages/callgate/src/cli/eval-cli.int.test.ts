import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isGoodEnough } from "./commands/eval.ts";
import { createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const environment = `
import { defineTool } from "callgate";
import { defineEnvironment } from "callgate/eval";
import { z } from "zod";
export const environment = defineEnvironment(async ({ openGate }) => {
  const paid: number[] = [];
  const pay = defineTool({ name: "pay", description: "Pays", effect: "write", input: z.strictObject({ amount: z.number() }), handler: ({ amount }) => void paid.push(amount) });
  return { gate: await openGate({ tools: { bank: [pay] }, rules: [{ allow: "bank.pay", when: { args: { "/amount": { lte: 10 } } } }] }), state: () => ({ paid }) };
});`;
const suite = (amount: number) => `
name: bank
environment: ./environment.ts
mode: tools
cases:
  - { id: pays, kind: normal-flow, tags: [money], task: Pay 5., effects: { allowed: [bank.pay] }, state: [{ path: /paid, equals: [5] }], script: [{ calls: [{ tool: bank.pay, input: { amount: ${amount} } }] }, Paid.] }
  - { id: too-much, kind: permission-failure, task: Pay 50., effects: { forbidden: [bank.pay] }, calls: [{ tool: bank.pay, outcome: denied }], script: [{ calls: [{ tool: bank.pay, input: { amount: 50 } }] }, No.] }
  - { id: later, kind: timeout, skip: no network here, task: Pay., calls: [{ tool: bank.pay }] }
`;
const project = createCliProject({ "environment.ts": environment, "suite.yaml": suite(5), "worse.yaml": suite(6), "broken.yaml": "name: b\nenvironment: ./environment.ts\ncases:\n  - { id: a, kind: nice, task: x }\n" }, {});
afterAll(() => rmSync(project.root, { recursive: true, force: true }));

function callgate(...args: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = runCommand(args, { cwd: project.folder, env: project.env });
  return { status, stdout, stderr };
}

test("a suite is run, written in every form, and held against a baseline; its code needs trust, and its mistakes have a place", { timeout: 600_000 }, () => {
  expect(callgate("eval", "suite.yaml")).toMatchObject({ status: 2, stderr: expect.stringContaining("callgate trust") as string });
  const first = callgate("--trust", "eval", "suite.yaml", "--repeat", "2", "--junit", "r.xml", "--html", "r.html", "--save-baseline", "b.json");
  expect({ status: first.status, stderr: first.stderr }).toEqual({ status: 0, stderr: "" });
  expect(first.stdout).toMatch(/bank by scripted, 2 attempts of each case/);
  expect(first.stdout).toMatch(/\nall +3 +2 +100\.0 % \(51\.0 % to 100\.0 %\)/);
  expect(first.stdout).toContain("skipped later: no network here\n\n3 cases: 2 passed, 1 skipped\n");
  expect(readFileSync(join(project.folder, "r.xml"), "utf8")).toContain('tests="3" failures="0" errors="0" skipped="1"');
  expect(readFileSync(join(project.folder, "r.html"), "utf8")).toContain("<canvas");
  expect(existsSync(join(project.folder, "b.json"))).toBe(true);

  const worse = callgate("--json", "eval", "worse.yaml", "--baseline", "b.json");
  expect(worse.status).toBe(1);
  expect(JSON.parse(worse.stdout)).toMatchObject({ subject: "scripted", all: { passed: 1, failed: 1, skipped: 1 }, regressions: [{ id: "pays", message: "it passed 2 of 2, and now 0 of 1" }] });

  expect(callgate("eval", "broken.yaml")).toMatchObject({ status: 2, stderr: expect.stringMatching(/broken\.yaml:4:\d+ cases\.0\.kind: /) as string });
  expect(callgate("eval", "suite.yaml", "--prove")).toMatchObject({ status: 0, stdout: "ok · 3 cases tried with nothing done, 0 works that must fail\n" });
});

test("good enough is what was judged and is no worse, and never what was not judged", () => {
  const report = (more: object, statuses: readonly string[] = ["passed"]) => ({ all: { tries: 2, failed: 0, flaky: 0, passRate: { rate: 1, low: 0.3, high: 1 }, ...more }, cases: statuses.map((status) => ({ status })) }) as unknown as Parameters<typeof isGoodEnough>[0];
  const asked = { regressions: [], hasBaseline: false, atLeast: undefined };
  expect(isGoodEnough(report({}), asked)).toBe(true);
  expect(isGoodEnough(report({ tries: 0 }), asked)).toBe(false);
  expect(isGoodEnough(report({}, ["passed", "error"]), { ...asked, atLeast: 0 })).toBe(false);
  expect(isGoodEnough(report({}, ["refused"]), asked)).toBe(false);
  expect(isGoodEnough(report({ failed: 1, passRate: { rate: 0.5, low: 0, high: 1 } }), asked)).toBe(false);
  expect(isGoodEnough(report({ failed: 1, passRate: { rate: 0.5, low: 0, high: 1 } }), { ...asked, hasBaseline: true })).toBe(true);
  expect(isGoodEnough(report({ failed: 1, passRate: { rate: 0.5, low: 0, high: 1 } }), { ...asked, atLeast: 0.6 })).toBe(false);
  expect(isGoodEnough(report({}), { ...asked, hasBaseline: true, regressions: [{ id: "a", message: "" }] })).toBe(false);
});
