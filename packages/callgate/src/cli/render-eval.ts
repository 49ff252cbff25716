import { failureLine, percent } from "@callgate/eval";
import type { CaseProof, CaseReport, EvalReport, GroupReport, Regression } from "@callgate/eval";
import { renderTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { counted, duration, visible } from "./terminal.ts";

type Out = Pick<Terminal, "outColors" | "outColumns">;

/** A report for a person: figures by kind and tag, then every case that has not passed, and what is worse than before. */
export function renderReport(report: EvalReport, regressions: readonly Regression[], out: Out): string {
  const { all, groups, cases, suite, subject, repeat, wallMs } = report;
  const hats = all.passHat.length > 1 ? all.passHat.map((_unused, index) => index + 1).slice(1) : [];
  const head = ["", "cases", "passed", "pass rate (95 %)", ...hats.map((k) => `pass^${k}`), "effects", "tokens in", "out", "USD", "p50", "p95"];
  const table = renderTable(head, [...groups, all].map((group) => groupRow(group, hats)), { columns: out.outColumns, colors: out.outColors, flexible: 0 });
  const others = cases.filter(({ status }) => status !== "passed");
  return [
    `${visible(suite)} by ${visible(subject)}, ${counted(repeat, "attempt")} of each case, ${duration(wallMs)}\n\n`,
    table,
    ...(others.length === 0 ? [] : ["\n", ...others.map((one) => caseLine(one, out))]),
    ...(regressions.length === 0 ? [] : ["\nWorse than the baseline:\n", ...regressions.map(({ id, message }) => `${out.outColors.red(visible(id))} ${visible(message)}\n`)]),
    `\n${verdict(report, regressions)}\n`,
  ].join("");
}

function groupRow({ name, cases, passed, passRate, passHat, effects, tokensIn, tokensOut, isEstimated, microUsd, latencyMs, tries }: GroupReport, hats: readonly number[]): readonly string[] {
  const about = isEstimated ? "≈" : "";
  const rate = tries === 0 ? "not judged" : `${percent(passRate.rate)} (${percent(passRate.low)} to ${percent(passRate.high)})`;
  const did = [`${effects.done}`, ...(effects.unknown === 0 ? [] : [`${effects.unknown} unknown`]), ...(effects.denied === 0 ? [] : [`${effects.denied} denied`])].join(", ");
  return [visible(name), String(cases), String(passed), rate, ...hats.map((k) => percent(passHat[k - 1] ?? 0)), did, `${about}${tokensIn}`, `${about}${tokensOut}`, (microUsd / 1_000_000).toFixed(4), duration(latencyMs.p50), duration(latencyMs.p95)];
}

function caseLine(one: CaseReport, { outColors }: Out): string {
  const word = one.status === "skipped" ? outColors.dim(one.status) : one.status === "flaky" ? outColors.yellow(one.status) : outColors.red(one.status);
  const why = one.status === "failed" || one.status === "flaky" ? failureLine(one) : (one.reason ?? "");
  return `${word} ${visible(one.id)}: ${visible(why)}\n`;
}

function verdict({ all, cases }: EvalReport, regressions: readonly Regression[]): string {
  const parts = [
    [all.passed, "passed"], [all.flaky, "flaky"], [all.failed, "failed"], [all.skipped, "skipped"],
    [cases.filter(({ status }) => status === "refused").length, "refused"], [cases.filter(({ status }) => status === "error").length, "not judged"], [regressions.length, "worse than the baseline"],
  ] as const;
  return `${counted(all.cases, "case")}: ${parts.filter(([count, word]) => count > 0 || word === "passed").map(([count, word]) => `${count} ${word}`).join(", ")}`;
}

/** What each case was seen to catch. */
export function renderProofs(proofs: readonly CaseProof[], { outColors }: Out): string {
  const skipped = proofs.filter(({ missing }) => missing !== undefined);
  const broken = proofs.filter(({ holds, missing }) => !holds && missing === undefined);
  const lines = [...broken.map(({ id, problems }) => `${outColors.red(visible(id))} ${visible(problems.join("; "))}\n`), ...skipped.map(({ id, missing = "" }) => `${outColors.dim("skipped")} ${visible(id)}: ${visible(missing)}\n`)];
  const works = proofs.reduce((sum, { tried }) => sum + tried, 0);
  return `${lines.join("")}${broken.length === 0 ? "ok" : `${counted(broken.length, "case")} can be passed without the work`} · ${counted(proofs.length - skipped.length, "case")} tried with nothing done, ${counted(works, "work")} that must fail\n`;
}
