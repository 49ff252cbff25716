import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Regression } from "./baseline.ts";
import type { CaseReport, EvalReport, GroupReport } from "./eval-report.ts";
import { failureLine } from "./junit-xml.ts";
import { percent } from "./statistics.ts";
import { pageScript, pageStyle } from "./page-parts.ts";

/**
 * A report as one page that needs nothing else: the chart library is in it, and its policy lets it load nothing and run no
 * other script.
 */
export function htmlPage(report: EvalReport, regressions: readonly Regression[] = []): string {
  const scripts = [chartLibrary(), `const data = ${scriptJson(figuresOf(report))};\n${pageScript}`];
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src ${scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`).join(" ")}`;
  const { suite, subject, startedAt, repeat, groups, all, cases } = report;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(suite)} · ${escaped(subject)}</title>
<style>${pageStyle}</style>
</head>
<body>
<h1>${escaped(suite)}</h1>
<p>${escaped(subject)} · ${escaped(startedAt)} · ${repeat} ${repeat === 1 ? "attempt" : "attempts"} of each case</p>
${regressions.length === 0 ? "" : `<h2>Worse than the baseline</h2><ul>${regressions.map(({ id, message }) => `<li><b>${escaped(id)}</b> ${escaped(message)}</li>`).join("")}</ul>`}
<div class="wide"><table class="groups"><thead><tr>${["", "cases", "passed", "flaky", "failed", "skipped", "broken", "pass rate (95 %)", ...all.passHat.map((_unused, index) => `pass^${index + 1}`), "effects", "unknown", "denied", "tokens in", "tokens out", "USD", "p50 ms", "p95 ms"].map((head) => `<th>${head}</th>`).join("")}</tr></thead>
<tbody>${[all, ...groups].map((group) => groupRow(group, all.passHat.length)).join("\n")}</tbody></table></div>
<div class="charts"><div><canvas id="rates"></canvas></div><div><canvas id="tokens"></canvas></div><div><canvas id="latency"></canvas></div></div>
<h2>Cases</h2>
<div class="wide"><table class="cases"><thead><tr><th>case</th><th>kind</th><th></th><th>what it shows</th><th>why not</th></tr></thead>
<tbody>${cases.map(caseRow).join("\n")}</tbody></table></div>
<script>${scripts.join("</script>\n<script>")}</script>
</body>
</html>
`;
}

function groupRow({ name, cases, passed, flaky, failed, skipped, broken, passRate, passHat, effects, tokensIn, tokensOut, isEstimated, microUsd, latencyMs }: GroupReport, hats: number): string {
  const about = isEstimated ? "≈" : "";
  const rate = `${percent(passRate.rate)} (${percent(passRate.low)}–${percent(passRate.high)})`;
  const cells = [cases, passed, flaky, failed, skipped, broken, rate, ...Array.from({ length: hats }, (_unused, index) => (passHat[index] === undefined ? "" : percent(passHat[index]))), effects.done, effects.unknown, effects.denied, `${about}${tokensIn}`, `${about}${tokensOut}`, (microUsd / 1_000_000).toFixed(4), Math.round(latencyMs.p50), Math.round(latencyMs.p95)];
  return `<tr><th>${escaped(name)}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

function caseRow(one: CaseReport): string {
  const why = one.status === "failed" || one.status === "flaky" ? failureLine(one) : (one.reason ?? "");
  return `<tr><th>${escaped(one.id)}</th><td>${one.kind}</td><td class="${one.status}">${one.status}</td><td class="title">${escaped(one.title ?? "")}</td><td class="why">${escaped(why)}</td></tr>`;
}

function figuresOf({ groups, cases }: EvalReport): object {
  return {
    groups: groups.map(({ name, passRate }) => ({ name, ...passRate })),
    cases: cases.filter(({ attempts }) => attempts.length > 0).map(({ id, attempts }) => ({ id, tokens: attempts.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0) / attempts.length })),
    walls: cases.flatMap(({ attempts }) => attempts.map(({ wallMs }) => wallMs)),
  };
}

/** JSON that no HTML parser takes for the end of its script. */
function scriptJson(value: object): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function chartLibrary(): string {
  const file = join(dirname(createRequire(import.meta.url).resolve("chart.js")), "chart.umd.min.js");
  return readFileSync(file, "utf8").replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "");
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
