import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { AttemptReport, AttemptStatus } from "../attempt/run-attempt.ts";
import { noUsage } from "../attempt/subject.ts";
import { baselineOf, regressionsOf } from "./baseline.ts";
import type { CaseReport, EvalReport } from "./eval-report.ts";
import { htmlPage } from "./html-page.ts";
import { junitXml } from "./junit-xml.ts";
import { passHat, percentile, wilson } from "./statistics.ts";
import { caseStatus, summarize } from "./summarize.ts";

const attempt = (status: AttemptStatus, tokens = 100): AttemptReport => ({ status, failures: status === "failed" ? [{ kind: "state", message: "</script><b>&\u0007 is wrong" }] : [], ...(status === "error" ? { reason: "no model" } : {}), calls: [], answer: "", usage: { ...noUsage, inputTokens: tokens }, wallMs: 5 });
const caseOf = (id: string, statuses: readonly AttemptStatus[], tags: readonly string[] = [], tokens = 100): CaseReport => ({ id, kind: "normal-flow", tags, status: statuses.length === 0 ? "skipped" : caseStatus(statuses.map((status) => attempt(status))), ...(statuses.length === 0 ? { reason: "not today" } : {}), attempts: statuses.map((status) => attempt(status, tokens)) });
const reportOf = (cases: readonly CaseReport[]): EvalReport => ({ format: 1, suite: "s", subject: "x", repeat: 2, startedAt: "2026-01-01T00:00:00.000Z", wallMs: 1, ...summarize(cases), cases });

describe("figures", () => {
  test("the Wilson interval is that of the books, and never beyond 0 and 1", () => {
    const near = (passed: number, tries: number): readonly string[] => Object.values(wilson(passed, tries)).map((value: number) => value.toFixed(4));
    expect(near(5, 10)).toEqual(["0.5000", "0.2366", "0.7634"]);
    expect(near(10, 10)).toEqual(["1.0000", "0.7225", "1.0000"]);
    expect(near(0, 10)).toEqual(["0.0000", "0.0000", "0.2775"]);
    expect(wilson(0, 0)).toEqual({ rate: 0, low: 0, high: 1 });
  });

  test("pass^k is the chance that k of the tries that were made all passed", () => {
    expect([1, 2, 3, 4].map((k) => passHat(k, { passed: 3, tries: 4 }))).toEqual([0.75, 0.5, 0.25, 0]);
    expect(passHat(5, { passed: 4, tries: 4 })).toBeUndefined();
    expect([percentile([3, 1, 2], 0.5), percentile([3, 1, 2], 0.95), percentile([], 0.5)]).toEqual([2, 3, 0]);
  });

  test("skipped, refused and not judged count for themselves and are in no rate; groups are by kind and tag", () => {
    const { all, groups } = reportOf([caseOf("a", ["passed", "passed"], ["t"]), caseOf("b", ["passed", "failed"], ["t"]), caseOf("c", ["failed", "failed"]), caseOf("d", []), caseOf("e", ["error", "passed"])]);
    expect(all).toMatchObject({ cases: 5, passed: 1, flaky: 1, failed: 1, skipped: 1, broken: 1, tries: 7, tokensIn: 700 });
    expect(all.passRate.rate).toBeCloseTo(4 / 7);
    expect(all.passHat).toEqual([0.5, 1 / 3]);
    expect(groups.map(({ name, cases }) => [name, cases])).toEqual([["normal-flow", 5], ["t", 2]]);
  });
});

describe("regressionsOf", () => {
  const before = baselineOf(reportOf([caseOf("a", ["passed", "passed"]), caseOf("b", ["passed", "failed"]), caseOf("c", ["failed", "failed"]), caseOf("d", ["passed", "passed"])]));
  test("nothing is worse where all is as it was, or better", () => {
    expect(regressionsOf(reportOf([caseOf("a", ["passed", "passed"]), caseOf("b", ["passed", "passed"]), caseOf("c", ["failed", "passed"]), caseOf("d", ["passed"])]), before)).toEqual([]);
  });

  test("what always passed and does not now, what is skipped, gone or not judged, and what takes more tokens, is", () => {
    const now = reportOf([caseOf("a", ["passed", "failed"]), caseOf("b", ["failed", "failed"]), caseOf("d", [])]);
    expect(regressionsOf(now, before)).toEqual([{ id: "a", message: "it passed 2 of 2, and now 1 of 2" }, { id: "d", message: "it passed, and is skipped now: not today" }]);
    expect(regressionsOf(reportOf([caseOf("a", ["error", "passed"]), caseOf("b", ["passed", "failed"], [], 200)]), before).map(({ message }) => message)).toEqual(["it passed, and is error now: ", "it took about 100 tokens, and now 200", "it passed, and is not among the cases any more"]);
    expect(() => regressionsOf({ ...now, suite: "other" }, before)).toThrow(/that of the suite s, not of other/);
  });
});

describe("what is written", () => {
  const report = reportOf([caseOf("a", ["passed", "passed"]), caseOf("b", ["passed", "failed"]), caseOf("c", []), caseOf("d", ["error", "error"])]);
  test("JUnit: skipped and not judged are what they are, and no text breaks the XML", () => {
    const xml = junitXml(report);
    expect(xml).toContain('tests="4" failures="1" errors="1" skipped="1"');
    expect(xml).toContain("skipped: not today");
    expect(xml).toContain("&lt;/script>&lt;b>&amp;");
    // oxlint-disable-next-line no-control-regex -- what XML cannot hold is looked for
    expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
  });

  test("the page loads nothing, and its policy lets exactly its own scripts run", () => {
    const page = htmlPage(report, [{ id: "b", message: "<worse>" }]);
    expect(page).not.toMatch(/<(?:script|link|img|iframe)[^>]*(?:src|href)=/);
    const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => script);
    expect(scripts).toHaveLength(2);
    for (const script of scripts) expect(page).toContain(`'sha256-${createHash("sha256").update(script).digest("base64")}'`);
    expect(page).toContain("default-src 'none'");
    expect(page).toContain("&#60;worse&#62;");
    expect(page.split("</script><b>")).toHaveLength(1);
    // The figures are read as the script reads them, and the library is there.
    expect(JSON.parse(/const data = (.*);\n/.exec(scripts[1] ?? "")?.[1] ?? "")).toMatchObject({ groups: [{ name: "normal-flow" }], walls: [5, 5, 5, 5, 5, 5] });
    expect(scripts[0]?.length).toBeGreaterThan(100_000);
  });
});
