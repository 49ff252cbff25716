import { readFile, writeFile } from "node:fs/promises";
import { CallgateError } from "@callgate/contract";
import { z } from "zod";
import type { AttemptReport } from "../attempt/run-attempt.ts";
import type { CaseReport, EvalReport } from "./eval-report.ts";
import { wilson } from "./statistics.ts";

const baselineSchema = z.object({
  format: z.literal(1),
  suite: z.string(),
  subject: z.string(),
  savedAt: z.string(),
  cases: z.record(z.string(), z.object({ passed: z.int().min(0), tries: z.int().min(0), tokens: z.number().min(0) })),
});

/** What later runs are held against. Holds figures only: no answer, no state. */
export type Baseline = z.infer<typeof baselineSchema>;

export interface Regression {
  readonly id: string;
  readonly message: string;
}

/** Tokens of a passed attempt may be so many times those of the baseline before that is a regression. */
const tokenTolerance = 1.25;

export function baselineOf({ suite, subject, startedAt, cases }: EvalReport): Baseline {
  const judged = cases.filter((one) => countOf(one).tries > 0);
  return { format: 1, suite, subject, savedAt: startedAt, cases: Object.fromEntries(judged.map((one) => [one.id, countOf(one)])) };
}

function countOf({ attempts }: CaseReport): Baseline["cases"][string] {
  const judged = attempts.filter(({ status }) => status === "passed" || status === "failed");
  const passed = judged.filter(({ status }) => status === "passed");
  return { passed: passed.length, tries: judged.length, tokens: passed.length === 0 ? 0 : Math.round(passed.reduce((sum, attempt) => sum + tokensOf(attempt), 0) / passed.length) };
}

function tokensOf({ usage }: AttemptReport): number {
  return usage.inputTokens + usage.outputTokens;
}

/**
 * What has become worse. A case that always passed and now fails once is one, as is one that is gone, skipped or not
 * judged any more; a case that passed sometimes counts once its interval lies below the old rate.
 *
 * Errors: `CallgateError` USAGE where the baseline is another suite's.
 */
export function regressionsOf(report: EvalReport, baseline: Baseline): readonly Regression[] {
  if (baseline.suite !== report.suite) throw new CallgateError("USAGE", `The baseline is that of the suite ${baseline.suite}, not of ${report.suite}`);
  const cases = new Map(report.cases.map((one) => [one.id, one]));
  return Object.entries(baseline.cases).flatMap(([id, before]): readonly Regression[] => {
    const one = cases.get(id);
    if (before.passed === 0) return [];
    if (one === undefined) return [{ id, message: "it passed, and is not among the cases any more" }];
    const now = countOf(one);
    if (now.tries === 0) return [{ id, message: `it passed, and is ${one.status} now: ${one.reason ?? "not tried"}` }];
    if (one.status === "refused" || one.status === "error") return [{ id, message: `it passed, and is ${one.status} now: ${one.reason ?? ""}` }];
    const wasSure = before.passed === before.tries;
    if (wasSure ? now.passed < now.tries : wilson(now.passed, now.tries).high < before.passed / before.tries) return [{ id, message: `it passed ${before.passed} of ${before.tries}, and now ${now.passed} of ${now.tries}` }];
    if (before.tokens > 0 && now.passed > 0 && now.tokens > before.tokens * tokenTolerance) return [{ id, message: `it took about ${before.tokens} tokens, and now ${now.tokens}` }];
    return [];
  });
}

export async function saveBaseline(file: string, report: EvalReport): Promise<void> {
  await writeFile(file, `${JSON.stringify(baselineOf(report), undefined, 2)}\n`);
}

/** Errors: `CallgateError` USAGE with the file. */
export async function readBaseline(file: string): Promise<Baseline> {
  try {
    return baselineSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? cause.issues.map(({ path, message }) => `${path.map(String).join(".") || "the top"}: ${message}`).join("; ") : cause instanceof Error ? cause.message : String(cause);
    throw new CallgateError("USAGE", `${file} is no baseline: ${why}; save one with --save-baseline`, { cause });
  }
}
