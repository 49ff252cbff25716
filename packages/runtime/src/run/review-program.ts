import type { ApprovalQuestion, CheckReport, Diagnostic, JournalEntry, RunError } from "@callgate/contract";
import type { Operation, Verdict } from "../approval/approvals.ts";
import { digestOf } from "../lib/digest.ts";
import { watchLease } from "./watch-lease.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunScope } from "./run-scope.ts";

/** What stands for the program where a question names a tool: none is called so, for every tool has a namespace. */
const programName = "program";

/** Of a program, what a person is shown beside the findings. */
const maxShownChars = 4_000;

/** What came of a review. `none`: nothing of the program asks for one. */
export type ReviewEnd =
  | { readonly kind: "none" }
  | { readonly kind: "approved"; readonly record: ReviewRecord }
  | { readonly kind: "refused"; readonly record: ReviewRecord; readonly error: RunError }
  | { readonly kind: "cancelled" };

type ReviewRecord = NonNullable<Extract<JournalEntry, { kind: "checked" }>["review"]>;

/**
 * Has a person look at a program before it runs, where a rule of the scanner asks for that. The findings and the program are
 * shown; the answer is good for this text in this run only. An answer to the program is none to its calls.
 *
 * Where nobody can answer, and where an answer could only come later, it is refused. Never rejects.
 */
export async function reviewProgram(scope: RunScope, request: RunRequest, report: CheckReport): Promise<ReviewEnd> {
  const findings = report.diagnostics.filter(({ review }) => review === true);
  if (report.kind !== "ok" || findings.length === 0) return { kind: "none" };
  const { seams, runId, principal } = scope;
  const operation = operationOf(scope, request, findings);
  const question = seams.reviews.pose(operation);
  const scoped = { runId, principal, callId: question.callId, tool: programName };
  seams.emit({ kind: "approval-asked", atMs: seams.clock.now(), ...scoped, question });
  const verdict = await ask(scope, request, question);
  const redeemed = verdict.kind === "approved" ? seams.reviews.redeem(verdict.approvalId, operation) : undefined;
  const isApproved = redeemed?.kind === "redeemed";
  if (verdict.kind !== "pending") seams.emit({ kind: "approval-answered", atMs: seams.clock.now(), ...scoped, approvalId: verdict.approvalId, approved: isApproved, by: "by" in verdict ? verdict.by : "nobody" });
  if (verdict.kind === "cancelled") return { kind: "cancelled" };
  const ruleIds = [...new Set(findings.map(({ code }) => code))];
  if (verdict.kind === "approved" && isApproved) return { kind: "approved", record: { approvalId: verdict.approvalId, ruleIds, approved: true, by: verdict.by } };
  const { code, by, reason } = refusalOf(question, redeemed?.kind === "refused" ? { kind: "denied", approvalId: verdict.approvalId, by: "nobody", reason: redeemed.reason } : verdict);
  const clean = seams.redactor.text(reason);
  return { kind: "refused", record: { approvalId: verdict.approvalId, ruleIds, approved: false, by, reason: clean }, error: errorOf({ code, by, reason: clean }, findings) };
}

/** However long a person takes, the run stays ours. */
async function ask(scope: RunScope, { signal }: RunRequest, question: ApprovalQuestion): Promise<Verdict> {
  const release = watchLease(scope);
  try {
    return await scope.seams.reviews.ask(question, { signal: AbortSignal.any([signal, scope.fence.signal]) });
  } finally {
    release();
  }
}

function operationOf({ seams, runId, principal }: RunScope, { program, language }: RunRequest, findings: readonly Diagnostic[]): Operation {
  const clean = (text: string): string => seams.redactor.text(text);
  const shown = findings.map(({ code, line, column, message, excerpt }) => ({ rule: code, line, column, message, ...(excerpt === undefined ? {} : { excerpt: clean(excerpt) }) }));
  const digest = digestOf({ language, program });
  const [first] = findings;
  return {
    principal,
    runId,
    callId: `${runId}.program`,
    tool: programName,
    definitionDigest: digest,
    argsDigest: digestOf(shown),
    argsSummary: { language, findings: shown, program: clean(program.length > maxShownChars ? `${program.slice(0, maxShownChars).toWellFormed()}\n… (${program.length - maxShownChars} more characters)` : program) },
    effect: "write",
    policyVersion: seams.policy.version,
    ruleId: first?.code ?? "",
    reason: findings.map(({ code, line, column, message }) => `${code} at ${line}:${column}: ${message}`).join("; "),
    isReview: true,
  };
}

interface Refusal {
  readonly code: "DENIED" | "APPROVAL_UNAVAILABLE";
  readonly by: string;
  readonly reason: string;
}

function refusalOf(question: ApprovalQuestion, verdict: Exclude<Verdict, { kind: "cancelled" }>): Refusal {
  switch (verdict.kind) {
    case "denied":
    case "approved":
      return { code: "DENIED", by: verdict.by, reason: verdict.kind === "denied" ? verdict.reason : "The approval did not hold" };
    case "unavailable":
      return { code: "APPROVAL_UNAVAILABLE", by: "nobody", reason: verdict.help };
    case "pending":
      return { code: "APPROVAL_UNAVAILABLE", by: "nobody", reason: `A review is not kept for later. Run it where a person can answer, or set check.scan of ${question.ruleId} to "note"` };
  }
}

function errorOf({ code, by, reason }: Refusal, findings: readonly Diagnostic[]): RunError {
  const [first] = findings;
  const what = findings.map((finding) => `${finding.code} in line ${finding.line}`).join(", ");
  const who = code === "DENIED" ? `${by} refused it: ${reason}` : `nobody can give one here. ${reason}`;
  const end = /[.!?]$/.test(who) ? "" : ".";
  return {
    code,
    message: `The program was not run: it needs a person's review (${what}), and ${who}${end} Nothing happened. Do not send it again, nor the same in other words; do the work without this.`,
    retryable: false,
    details: { rules: findings.map((finding) => finding.code) },
    ...(first === undefined ? {} : { line: first.line, column: first.column, ...(first.excerpt === undefined ? {} : { excerpt: first.excerpt }) }),
  };
}
