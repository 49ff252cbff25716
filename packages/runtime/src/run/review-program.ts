import { CallgateError } from "@callgate/contract";
import type { ApprovalQuestion, ApprovalSignal, CheckReport, Diagnostic, JournalEntry, PolicyDecision, Reach, RunError, RunSignal, Suspension } from "@callgate/contract";
import { answerIn } from "../approval/approval-signal.ts";
import type { Operation, Verdict } from "../approval/approvals.ts";
import { keptAnswers } from "../broker/kept-answers.ts";
import { digestOf } from "../lib/digest.ts";
import { sentence } from "../lib/sentence.ts";
import { lastApproved } from "./last-approved.ts";
import type { ApprovedProgram } from "./last-approved.ts";
import { programReach } from "./program-reach.ts";
import { watchLease } from "./watch-lease.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunScope } from "./run-scope.ts";
import { createSuspender } from "./suspender.ts";
import { createWaitingRoom, wakeTimeOf } from "./waiting-room.ts";

/** What stands for the program where a question names a tool: none is called so, for every tool has a namespace. */
const programName = "program";

/** Of a program, what a person is shown beside the findings. */
const maxShownChars = 4_000;

/** The place of the program itself among what a run asks: its calls count from 0. */
const programSeq = -1;

/** What came of a review. `none`: nothing of the program asks for one. */
export type ReviewEnd =
  | { readonly kind: "none" }
  | { readonly kind: "approved"; readonly record: ReviewRecord }
  | { readonly kind: "refused"; readonly record: ReviewRecord; readonly error: RunError }
  /** It is answered later, perhaps in another process: the run is given up until then. */
  | { readonly kind: "waits"; readonly suspension: Suspension }
  | { readonly kind: "cancelled" };

type ReviewRecord = NonNullable<Extract<JournalEntry, { kind: "checked" }>["review"]>;

/** A question about the program that an earlier stretch of the run has asked, and what was said to it. */
export interface EarlierReview {
  readonly question: ApprovalQuestion;
  readonly said: ApprovalSignal | undefined;
}

/** What a run that was not checked yet has asked about its program. */
export function earlierReview(entries: readonly JournalEntry[], signals: readonly RunSignal[]): EarlierReview | undefined {
  const asked = entries.findLast((entry) => entry.kind === "approval-asked" && entry.seq === programSeq);
  if (asked?.kind !== "approval-asked") return undefined;
  return { question: asked.question, said: answerIn(signals, asked.question.approvalId) };
}

/** Whether a rule of the scanner, or the policy, has a person look at the program. */
export function asksForReview({ kind, diagnostics }: CheckReport, decision: PolicyDecision): boolean {
  return kind === "ok" && (decision.kind === "ask" || diagnostics.some(({ review }) => review === true));
}

/** Why a program is looked at: findings of the scanner, and the policy where that asks about the run. */
interface ReviewCause {
  readonly findings: readonly Diagnostic[];
  readonly asked: Extract<PolicyDecision, { kind: "ask" }> | undefined;
  /** What the program can call; absent where its check says nothing of it. */
  readonly reach: Reach | undefined;
  /** The last version of it that was approved. */
  readonly previous: ApprovedProgram | undefined;
}

/**
 * Has a person look at a program before it runs, where a rule of the scanner or the policy asks for that. The findings and
 * the program are shown; the answer is good for this text in this run only. An answer to the program is none to its calls.
 *
 * Where policy denies the run nobody is asked. The question is on disk before anyone is told of it, and so is its answer: it
 * goes the way of the questions about calls. Where it is kept for later the run waits for it, then it is given up, and
 * whoever takes it up asks the same question still. A block of a session cannot wait so; there, and where nobody can answer,
 * it is refused. Never rejects.
 */
export async function reviewProgram(scope: RunScope, request: RunRequest, { report, decision, before }: { readonly report: CheckReport; readonly decision: PolicyDecision; readonly before?: EarlierReview | undefined }): Promise<ReviewEnd> {
  const findings = report.diagnostics.filter(({ review }) => review === true);
  if (report.kind === "ok" && decision.kind === "deny") return deniedRun(scope, decision);
  if (!asksForReview(report, decision) || request.rehearsal?.isReviewed === true) return { kind: "none" };
  const { seams, runId, principal } = scope;
  // The question of an earlier stretch names its own.
  const previous = before === undefined ? await lastApproved({ journal: seams.journal, principal, runId, language: request.language, program: request.program }) : undefined;
  const cause: ReviewCause = { findings, previous, asked: decision.kind === "ask" ? decision : undefined, reach: report.kind === "ok" ? report.reach : undefined };
  const operation = operationOf(scope, request, cause);
  const question = before?.question ?? seams.reviews.pose(operation);
  const scoped = { runId, principal, callId: question.callId, tool: programName };
  const unrecorded = before === undefined ? await recordQuestion(scope, question) : undefined;
  if (unrecorded === undefined && before === undefined) seams.emit({ kind: "approval-asked", atMs: seams.clock.now(), ...scoped, question });
  const verdict = unrecorded ?? (await untilAnswered(scope, request, { question, said: before?.said }));
  if (verdict.kind === "left") return { kind: "waits", suspension: verdict.suspension };
  const redeemed = verdict.kind === "approved" ? seams.reviews.redeem(verdict.approvalId, operation) : undefined;
  const isApproved = redeemed?.kind === "redeemed";
  if (verdict.kind !== "pending") seams.emit({ kind: "approval-answered", atMs: seams.clock.now(), ...scoped, approvalId: verdict.approvalId, approved: isApproved, by: "by" in verdict ? verdict.by : "nobody" });
  if (verdict.kind === "denied" && verdict.refused !== undefined) seams.emit({ kind: "approval-refused", atMs: seams.clock.now(), ...scoped, approvalId: verdict.approvalId, ...verdict.refused });
  if (verdict.kind === "cancelled") return { kind: "cancelled" };
  const ruleIds = [...new Set([...(cause.asked === undefined ? [] : [cause.asked.ruleId]), ...findings.map(({ code }) => code)])];
  if (verdict.kind === "approved" && isApproved) return { kind: "approved", record: { approvalId: verdict.approvalId, ruleIds, approved: true, by: verdict.by } };
  const { code, by, reason } = refusalOf(question, redeemed?.kind === "refused" ? { kind: "denied", approvalId: verdict.approvalId, by: "nobody", reason: redeemed.reason } : verdict);
  const clean = seams.redactor.text(reason);
  return { kind: "refused", record: { approvalId: verdict.approvalId, ruleIds, approved: false, by, reason: clean }, error: errorOf({ code, by, reason: clean }, cause) };
}

/** Undefined once it is on disk. */
async function recordQuestion({ seams, lease, fence }: RunScope, question: ApprovalQuestion): Promise<Verdict | undefined> {
  const { approvalId } = question;
  try {
    await seams.journal.append(lease, [{ kind: "approval-asked", atMs: seams.clock.now(), seq: programSeq, question }], "full");
    return undefined;
  } catch (fault) {
    if (CallgateError.is(fault) && fault.code === "RUN_FENCED") {
      fence.raise();
      return { kind: "cancelled", approvalId };
    }
    return { kind: "unavailable", approvalId, help: `The question could not be written to the journal: ${fault instanceof Error ? fault.message : String(fault)}` };
  }
}

type Left = { readonly kind: "left"; readonly suspension: Suspension };

/** However long a person takes, the run stays ours until it is given up. */
async function untilAnswered(scope: RunScope, request: RunRequest, { question, said }: EarlierReview): Promise<Verdict | Left> {
  const release = watchLease(scope);
  const signal = AbortSignal.any([request.signal, scope.fence.signal]);
  const { seams } = scope;
  const kept = keptAnswers({ seams, request: scope, safe: seams.redactor });
  const byRun = scope.approver === undefined ? {} : { approver: scope.approver };
  try {
    const verdict = await seams.reviews.ask(question, { signal, kept, ...byRun, ...(said === undefined ? {} : { answer: said }) });
    if (verdict.kind !== "pending" || request.session !== undefined) return verdict;
    const waited = await waitKept(scope, { ...request, signal }, question);
    if (waited.kind === "left") return waited;
    return await seams.reviews.ask(question, { signal, ...byRun, ...(waited.said?.kind === "approval" ? { answer: waited.said } : {}) });
  } finally {
    release();
  }
}

type Waited = Left | { readonly kind: "over"; readonly said: RunSignal | undefined };

/** Waits for the answer to a question that is kept, as a call of a program does, and leaves the run when that takes long. */
function waitKept(scope: RunScope, { signal, leave, suspendAfterMs }: Pick<RunRequest, "signal" | "leave" | "suspendAfterMs">, question: ApprovalQuestion): Promise<Waited> {
  const { clock, journal } = scope.seams;
  const { promise, resolve } = Promise.withResolvers<Waited>();
  const room = createWaitingRoom({ clock, readSignals: () => journal.readSignals(scope.principal.tenant, scope.runId, { clear: true }), taken: new Map(), looked: () => suspender.touch() });
  const left = (wakeAtMs: number | undefined): void => resolve({ kind: "left", suspension: { atMs: clock.now(), waits: room.waits, ...(wakeAtMs === undefined ? {} : { wakeAtMs }) } });
  const suspender = createSuspender({ clock, suspendAfterMs, isHopeless: () => scope.approver !== undefined, isResting: () => room.canBeLeft(clock.now()), resting: () => undefined, suspend: () => left(wakeTimeOf(room.waits)) });
  const cancelled = (): void => resolve({ kind: "over", said: undefined });
  const leaving = (): void => left(clock.now());
  scope.signals.heard = () => room.look();
  room.add({ wait: { kind: "approval", seq: programSeq, question }, isTimer: false, over: (said) => resolve({ kind: "over", said }) });
  for (const [source, heard] of [[signal, cancelled], [leave, leaving]] as const) {
    source?.addEventListener("abort", heard, { once: true });
    if (source?.aborted === true) heard();
  }
  return promise.finally(() => {
    signal.removeEventListener("abort", cancelled);
    leave?.removeEventListener("abort", leaving);
    scope.signals.heard = () => undefined;
    suspender.stop();
    room.drop();
  });
}

function operationOf({ seams, runId, principal, view, lane }: RunScope, { program, language }: RunRequest, { findings, asked, reach, previous }: ReviewCause): Operation {
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
    argsSummary: { language, findings: shown, ...(reach === undefined ? {} : { reach: programReach(view, lane, reach) }), previous: previous === undefined ? null : { ...previous }, program: clean(program.length > maxShownChars ? `${program.slice(0, maxShownChars).toWellFormed()}\n… (${program.length - maxShownChars} more characters)` : program) },
    effect: "write",
    policyVersion: seams.policy.version,
    ruleId: asked?.ruleId ?? first?.code ?? "",
    reason: [...(asked === undefined ? [] : [asked.reason]), ...findings.map(({ code, line, column, message }) => `${code} at ${line}:${column}: ${message}`)].join("; "),
    ...(asked?.from === undefined ? {} : { from: asked.from }),
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
      return { code: "APPROVAL_UNAVAILABLE", by: "nobody", reason: `A block of a session cannot wait for a review that is answered later. Run it where a person can answer, or have rule ${question.ruleId} not ask (check.scan, or the policy)` };
  }
}

/** The policy has said no; nobody is asked. */
function deniedRun({ seams }: RunScope, { ruleId, reason, help }: Extract<PolicyDecision, { kind: "deny" }>): ReviewEnd {
  const clean = seams.redactor.text(reason);
  const message = `The program was not run: policy refused it: ${sentence(clean)} Nothing happened. Do not send it again, nor the same in other words.${help === undefined ? "" : ` ${sentence(help)}`}`;
  return { kind: "refused", record: { approvalId: "", ruleIds: [ruleId], approved: false, by: "policy", reason: clean }, error: { code: "DENIED", message, retryable: false, details: { ruleId } } };
}

function errorOf({ code, by, reason }: Refusal, { findings, asked }: ReviewCause): RunError {
  const [first] = findings;
  const what = [...(asked === undefined ? [] : [`rule ${asked.ruleId}`]), ...findings.map((finding) => `${finding.code} in line ${finding.line}`)].join(", ");
  const who = code === "DENIED" ? `${by} refused it: ${reason}` : `nobody can give one here. ${reason}`;
  return {
    code,
    message: `The program was not run: it needs a person's review (${what}), and ${sentence(who)} Nothing happened. Do not send it again, nor the same in other words; do the work without this.`,
    retryable: false,
    details: { rules: [...(asked === undefined ? [] : [asked.ruleId]), ...findings.map((finding) => finding.code)] },
    ...(first === undefined ? {} : { line: first.line, column: first.column, ...(first.excerpt === undefined ? {} : { excerpt: first.excerpt }) }),
  };
}
