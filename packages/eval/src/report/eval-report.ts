import type { AttemptReport } from "../attempt/run-attempt.ts";
import type { CaseKind } from "../suite/eval-suite.ts";
import type { Rate } from "./statistics.ts";

/** `flaky`: passed in some of its attempts. `skipped`, `refused` and `error` as in `AttemptStatus`, where any attempt ended so. */
export type CaseStatus = "passed" | "flaky" | "failed" | "skipped" | "refused" | "error";

export interface CaseReport {
  readonly id: string;
  readonly kind: CaseKind;
  readonly title?: string;
  readonly tags: readonly string[];
  readonly status: CaseStatus;
  /** Why it was skipped or refused, or could not be judged. */
  readonly reason?: string;
  readonly attempts: readonly AttemptReport[];
}

/** Figures of the cases that have a tag, or of all. */
export interface GroupReport {
  readonly name: string;
  readonly cases: number;
  readonly passed: number;
  readonly flaky: number;
  readonly failed: number;
  /** Not among `passed`, and not in any rate. */
  readonly skipped: number;
  /** Refused, or not judged. */
  readonly broken: number;
  /** Attempts that were judged. */
  readonly tries: number;
  /** Of those attempts. */
  readonly passRate: Rate;
  /** From k = 1: the mean over the cases of the chance that k attempts all pass. */
  readonly passHat: readonly number[];
  readonly effects: { readonly done: number; readonly unknown: number; readonly denied: number };
  /** Sums over the judged attempts. */
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly isEstimated: boolean;
  readonly microUsd: number;
  readonly latencyMs: { readonly mean: number; readonly p50: number; readonly p95: number };
}

export interface EvalReport {
  readonly format: 1;
  readonly suite: string;
  readonly subject: string;
  /** Attempts of each case. */
  readonly repeat: number;
  readonly startedAt: string;
  readonly wallMs: number;
  readonly all: GroupReport;
  /** By kind, and then by tag. */
  readonly groups: readonly GroupReport[];
  readonly cases: readonly CaseReport[];
}
