import type { AttemptReport } from "../attempt/run-attempt.ts";
import type { CaseReport, CaseStatus, EvalReport, GroupReport } from "./eval-report.ts";
import { mean, passHat, percentile, wilson } from "./statistics.ts";

const isJudged = ({ status }: AttemptReport): boolean => status === "passed" || status === "failed";

/** How a case stands after its attempts. */
export function caseStatus(attempts: readonly AttemptReport[]): CaseStatus {
  for (const broken of ["error", "refused", "skipped"] as const) if (attempts.some(({ status }) => status === broken)) return broken;
  const passed = attempts.filter(({ status }) => status === "passed").length;
  if (passed === 0) return "failed";
  return passed === attempts.length ? "passed" : "flaky";
}

/** Figures over all cases, by kind and by tag. */
export function summarize(cases: readonly CaseReport[]): Pick<EvalReport, "all" | "groups"> {
  const kinds = [...new Set(cases.map(({ kind }) => kind))];
  const tags = [...new Set(cases.flatMap((one) => one.tags))].sort().filter((tag) => !(kinds as readonly string[]).includes(tag));
  return {
    all: groupOf("all", cases),
    groups: [...kinds.map((kind) => groupOf(kind, cases.filter((one) => one.kind === kind || one.tags.includes(kind)))), ...tags.map((tag) => groupOf(tag, cases.filter((one) => one.tags.includes(tag))))],
  };
}

function groupOf(name: string, cases: readonly CaseReport[]): GroupReport {
  const judged = cases.filter(({ status }) => status === "passed" || status === "flaky" || status === "failed");
  const attempts = cases.flatMap((one) => one.attempts.filter(isJudged));
  const passed = attempts.filter(({ status }) => status === "passed").length;
  const calls = attempts.flatMap((attempt) => attempt.calls);
  const walls = attempts.map(({ wallMs }) => wallMs);
  const count = (status: CaseStatus): number => cases.filter((one) => one.status === status).length;
  return {
    name,
    cases: cases.length,
    passed: count("passed"),
    flaky: count("flaky"),
    failed: count("failed"),
    skipped: count("skipped"),
    broken: count("refused") + count("error"),
    tries: attempts.length,
    passRate: wilson(passed, attempts.length),
    passHat: passHats(judged),
    effects: { done: calls.filter(({ effectStatus }) => effectStatus === "done").length, unknown: calls.filter(({ effectStatus }) => effectStatus === "unknown").length, denied: calls.filter(({ outcome }) => outcome === "denied").length },
    tokensIn: attempts.reduce((sum, { usage }) => sum + usage.inputTokens, 0),
    tokensOut: attempts.reduce((sum, { usage }) => sum + usage.outputTokens, 0),
    isEstimated: attempts.some(({ usage }) => usage.isEstimated === true),
    microUsd: attempts.reduce((sum, { usage }) => sum + usage.microUsd, 0),
    latencyMs: { mean: mean(walls), p50: percentile(walls, 0.5), p95: percentile(walls, 0.95) },
  };
}

/** For each k that every judged case has attempts for. */
function passHats(cases: readonly CaseReport[]): readonly number[] {
  const tries = cases.map((one) => {
    const judged = one.attempts.filter(isJudged);
    return { passed: judged.filter(({ status }) => status === "passed").length, tries: judged.length };
  });
  const most = tries.length === 0 ? 0 : Math.min(...tries.map((one) => one.tries));
  return Array.from({ length: most }, (_unused, index) => mean(tries.map((one) => passHat(index + 1, one) ?? 0)));
}
