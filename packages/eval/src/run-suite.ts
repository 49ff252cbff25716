import { CallgateError } from "@callgate/contract";
import type { Clock } from "@callgate/contract";
import { createSlots, systemClock } from "@callgate/runtime";
import { assertSubject } from "./attempt/agent-subject.ts";
import { runAttempt, unjudged } from "./attempt/run-attempt.ts";
import type { AttemptReport, GateOpener } from "./attempt/run-attempt.ts";
import type { Subject } from "./attempt/subject.ts";
import type { CaseReport, EvalReport } from "./report/eval-report.ts";
import { caseStatus, summarize } from "./report/summarize.ts";
import type { EvalCase, EvalSuite } from "./suite/eval-suite.ts";

export interface RunSuiteOptions {
  readonly suite: EvalSuite;
  readonly subject: Subject;
  readonly openGate: GateOpener;
  /** Attempts of each case. Default 1. */
  readonly repeat?: number;
  /** Attempts under way at once. Default 4. */
  readonly concurrency?: number;
  /** Only cases with this id or pattern (`*` is any run of characters). */
  readonly only?: readonly string[];
  /** Only cases of one of these kinds or tags. */
  readonly tags?: readonly string[];
  readonly signal?: AbortSignal;
  /** Hears of each case once its attempts have ended. Must not throw. */
  readonly onCase?: (report: CaseReport) => void;
  /** Default: the host's. */
  readonly clock?: Clock;
}

/**
 * Tries a subject on every case, each attempt in a fresh world. What goes wrong with a case is in the report.
 *
 * Errors: `CallgateError` USAGE where no case is left, or a number is out of range.
 */
export async function runSuite(options: RunSuiteOptions): Promise<EvalReport> {
  const { suite, subject, repeat = 1, concurrency = 4, openGate, clock = systemClock(), signal = new AbortController().signal } = options;
  assertSubject(subject);
  if (!Number.isInteger(repeat) || repeat < 1) throw new CallgateError("USAGE", `repeat is a whole number from 1, not ${repeat}`);
  if (!Number.isInteger(concurrency) || concurrency < 1) throw new CallgateError("USAGE", `concurrency is a whole number from 1, not ${concurrency}`);
  const cases = chosenCases(options);
  const startedAt = new Date(clock.now()).toISOString();
  const startedMs = clock.monotonic();
  const slots = createSlots(concurrency);

  async function attempt(one: EvalCase): Promise<AttemptReport> {
    const leave = await slots.take(signal);
    if (leave === undefined) return unjudged("error", "it was interrupted");
    try {
      return await runAttempt({ suite, case: one, subject, openGate, clock, signal });
    } finally {
      leave();
    }
  }

  async function tryCase(one: EvalCase): Promise<CaseReport> {
    const { id, kind, title, tags, skip } = one;
    const head = { id, kind, tags, ...(title === undefined ? {} : { title }) };
    const attempts = skip === undefined ? sameBeginning(await Promise.all(Array.from({ length: repeat }, () => attempt(one)))) : [];
    const reason = skip ?? attempts.find((made) => made.reason !== undefined)?.reason;
    const report: CaseReport = { ...head, status: skip === undefined ? caseStatus(attempts) : "skipped", ...(reason === undefined ? {} : { reason }), attempts };
    options.onCase?.(report);
    return report;
  }

  const reports = await Promise.all(cases.map(tryCase));
  return { format: 1, suite: suite.name, subject: subject.name, repeat, startedAt, wallMs: clock.monotonic() - startedMs, ...summarize(reports), cases: reports };
}

/** Errors: `CallgateError` USAGE where none is left. */
export function chosenCases({ suite, only = [], tags = [] }: Pick<RunSuiteOptions, "suite" | "only" | "tags">): readonly EvalCase[] {
  const patterns = only.map((pattern) => new RegExp(`^${pattern.split("*").map((part) => part.replace(/[.\\+?^${}()|[\]]/g, "\\$&")).join(".*")}$`));
  const chosen = suite.cases.filter(({ id, kind, tags: own }) => (patterns.length === 0 || patterns.some((pattern) => pattern.test(id))) && (tags.length === 0 || tags.some((tag) => tag === kind || own.includes(tag))));
  if (chosen.length === 0) throw new CallgateError("USAGE", `The suite ${suite.name} has no case that was asked for; it has ${suite.cases.map(({ id }) => id).slice(0, 10).join(", ")}${suite.cases.length > 10 ? ", …" : ""}`);
  return chosen;
}

/** Where attempts of one case began in different worlds, their results say nothing of each other. */
function sameBeginning(attempts: readonly AttemptReport[]): readonly AttemptReport[] {
  const first = attempts.find(({ beforeDigest }) => beforeDigest !== undefined)?.beforeDigest;
  return attempts.map((attempt) => (attempt.beforeDigest === undefined || attempt.beforeDigest === first ? attempt : { ...attempt, status: "error", failures: [], reason: "the environment is not fresh: this attempt began in another state than the first" }));
}
