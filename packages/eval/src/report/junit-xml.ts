import { visible } from "@callgate/runtime/text";
import junit from "junit-report-builder";
import type { Builder } from "junit-report-builder";
import type { AttemptReport } from "../attempt/run-attempt.ts";
import type { CaseProof } from "../prove-suite.ts";
import type { CaseReport, EvalReport } from "./eval-report.ts";

/** Its types speak of a module with a default; what Node gives is that default itself. */
const builder = junit as unknown as Builder;

/** A report as JUnit XML: one test case for each case, skipped and refused ones as what they are. */
export function junitXml({ suite, subject, startedAt, cases, repeat, all }: EvalReport): string {
  const report = builder.newBuilder().name(text(suite));
  const group = report.testSuite().name(text(`${suite} by ${subject}`)).timestamp(startedAt);
  group.property("subject", text(subject)).property("repeat", String(repeat)).property("passRate", all.passRate.rate.toFixed(4)).property("passRateLow", all.passRate.low.toFixed(4)).property("passRateHigh", all.passRate.high.toFixed(4));
  for (const one of cases) {
    const entry = group.testCase().className(text(`${suite}.${one.kind}`)).name(text(one.title === undefined ? one.id : `${one.id}: ${one.title}`)).time(one.attempts.reduce((sum, { wallMs }) => sum + wallMs, 0) / 1_000);
    if (one.status === "skipped") entry.skipped().standardOutput(text(`skipped: ${one.reason ?? ""}`));
    if (one.status === "failed" || one.status === "flaky") entry.failure(text(failureLine(one)), one.status).stacktrace(text(failuresText(one)));
    if (one.status === "refused" || one.status === "error") entry.error(text(one.reason ?? one.status), one.status);
  }
  return report.build();
}

/** The same of a proof: a case that does not hold is a failure. */
export function junitProofXml(suite: string, proofs: readonly CaseProof[]): string {
  const report = builder.newBuilder().name(text(suite));
  const group = report.testSuite().name(text(`${suite}, proven`));
  for (const { id, holds, missing, problems } of proofs) {
    const entry = group.testCase().className(text(`${suite}.proof`)).name(text(id));
    if (missing !== undefined) entry.skipped().standardOutput(text(`skipped: ${missing}`));
    else if (!holds) entry.failure(text(problems.join("; ")), "proof");
  }
  return report.build();
}

/** XML has no form for most control characters. */
function text(words: string): string {
  return visible(words).toWellFormed();
}

/** How many attempts failed, and why the first did. */
export function failureLine({ attempts, reason }: CaseReport): string {
  const failed = attempts.filter(({ status }) => status === "failed");
  const [first] = failed[0]?.failures ?? [];
  const more = (failed[0]?.failures.length ?? 0) - 1;
  const which = attempts.length === 1 ? "" : `${failed.length} of ${attempts.length} attempts: `;
  return first === undefined ? (reason ?? "") : `${which}${first.message}${more > 0 ? ` (and ${more} more)` : ""}`;
}

function failuresText({ attempts }: CaseReport): string {
  return attempts.flatMap((attempt: AttemptReport, index) => attempt.failures.map(({ kind, message }) => `attempt ${index + 1}: ${kind}: ${message}`)).join("\n");
}
