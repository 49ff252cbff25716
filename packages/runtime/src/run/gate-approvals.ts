import { CallgateError } from "@callgate/contract";
import type { ApprovalQuestion, ApprovalRules, ApprovalSignal, GateApprovals, GateEvent, GivenAnswer, Grant, Journal, PendingApproval, Principal, RecordedValue, RunRecord } from "@callgate/contract";
import { signAnswer } from "../approval/answer-digest.ts";
import { createAnswerJudge } from "../approval/answer-judge.ts";
import { findQuestion, openRuns } from "./find-question.ts";
import type { FoundQuestion } from "./find-question.ts";
import type { GateGrantBook } from "./gate-grants.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import { shownApproval, stateOf } from "./shown-approval.ts";
import type { ShownApprovalSeams } from "./shown-approval.ts";
import { readEdit } from "./read-edit.ts";
import type { ReadEditSeams } from "./read-edit.ts";

export interface GateApprovalsOptions extends ShownApprovalSeams, ReadEditSeams {
  readonly journal: Journal;
  readonly now: () => number;
  readonly principal: Principal;
  readonly rules: ApprovalRules;
  readonly emit: (event: GateEvent) => void;
  readonly grants: Pick<GateGrantBook, "prepare" | "keep">;
  /** Something was said to a run. */
  readonly heard: (tenant: string, runId: string) => void;
}

/** Ended runs that are looked through: undoing what they did may ask. */
const maxEnded = 200;

/** Questions that nobody has answered, and their answers. An answer is on disk before anyone is told of it. */
export function createGateApprovals(options: GateApprovalsOptions): GateApprovals {
  const { journal, now, principal } = options;
  return {
    async list({ principal: asker = principal, runId } = {}) {
      const { tenant } = asker;
      const open = await Promise.all((await runsWithQuestions(journal, tenant, runId)).map((run) => openOf(journal, run, now())));
      return open.flat().sort((a, b) => a.askedAtMs - b.askedAtMs);
    },
    async show(approvalId, { principal: asker = principal } = {}) {
      const found = await findQuestion(journal, asker.tenant, approvalId);
      return found === undefined ? undefined : await shownApproval(options, found, now());
    },
    mayAnswer(by, { principal: asker = principal } = {}) {
      const judge = createAnswerJudge(options.rules);
      return !judge.needsSignature && judge.selfRefusal({ principal: asker }, by) === undefined;
    },
    answer: async (approvalId, answer, { principal: asker = principal } = {}) => await giveAnswer(options, asker.tenant, { approvalId, answer }),
  };
}

async function runsWithQuestions(journal: Journal, tenant: string, runId: string | undefined): Promise<readonly RunRecord[]> {
  if (runId !== undefined) {
    const run = await journal.readRun(tenant, runId);
    if (run === undefined) throw new CallgateError("RUN_NOT_FOUND", `There is no run ${runId}; list them with callgate runs ls`);
    return [run];
  }
  const runs = await Promise.all((["suspended", "running"] as const).map((status) => openRuns(journal, { tenant, status })));
  const ended = (await journal.listRuns({ tenant, limit: maxEnded })).filter(({ endedAtMs }) => endedAtMs !== undefined);
  return [...runs.flat(), ...ended];
}

async function openOf(journal: Journal, run: RunRecord, nowMs: number): Promise<readonly PendingApproval[]> {
  const { tenant } = run.principal;
  const [entries, signals] = await Promise.all([journal.readEntries(tenant, run.runId), journal.readSignals(tenant, run.runId)]);
  const askedAt = new Map(entries.flatMap((entry) => (entry.kind === "approval-asked" ? [[entry.question.approvalId, entry.atMs] as const] : [])));
  return [...readRecordedCalls(entries, signals).values()].flatMap(({ issued, past, ended }) => {
    const { question, said } = past;
    // Of a run that has ended only its undoing goes on.
    if (run.endedAtMs !== undefined && issued?.compensates === undefined) return [];
    if (question === undefined || said !== undefined || ended !== undefined || question.expiresAtMs <= nowMs) return [];
    return [{ question, askedAtMs: askedAt.get(question.approvalId) ?? run.startedAtMs, ...(run.unreadable === undefined ? {} : { unreadable: run.unreadable }) }];
  });
}

interface Giving {
  readonly approvalId: string;
  readonly answer: GivenAnswer;
}

async function giveAnswer(options: GateApprovalsOptions, tenant: string, { approvalId, answer }: Giving): ReturnType<GateApprovals["answer"]> {
  const { journal, heard } = options;
  const found = await findQuestion(journal, tenant, approvalId);
  if (found === undefined) throw refusedError(`There is no question ${approvalId}; callgate approvals ls lists those that are open`, approvalId);
  const { question } = found;
  const by = answer.signer?.by ?? answer.by;
  if (by === undefined) throw new CallgateError("USAGE", "Say who answers: by, or a signer");
  const given = { approved: answer.approved, by };
  const why = whyNot(options, found, { given, isSigned: answer.signer !== undefined });
  if (why !== undefined) {
    await noteRefused(options, question, { ...given, why });
    throw refusedError(`${approvalId} was not answered: ${why}`, approvalId);
  }
  const grant = grantOf(options, question, answer);
  const receipt = await journal.signal(tenant, question.runId, signalOf(options, question, { answer, by, ...(await editOf(options, found, answer)) }));
  // Given only where this is the answer that counts, and before the run goes on.
  const kept = grant === undefined || receipt.kind === "known" ? undefined : await options.grants.keep(grant);
  heard(tenant, question.runId);
  const counts = receipt.signal.kind === "approval" ? receipt.signal : { ...given, by };
  if (receipt.kind === "known") await noteRefused(options, question, { ...given, why: `${counts.by} answered before: ${counts.approved ? "approved" : "denied"}` });
  return { known: receipt.kind === "known", approved: counts.approved, ...(kept === undefined ? {} : { grant: kept }) };

  /** Checked against schema and policy here, so that the person hears of it; and again when it is used. */
  async function editOf(seams: GateApprovalsOptions, asked: FoundQuestion, { approved, args }: GivenAnswer): Promise<{ readonly args?: RecordedValue }> {
    if (args === undefined) return {};
    if (!approved) throw new CallgateError("USAGE", "Arguments go with an approval, not with a denial");
    const edit = await readEdit(seams, asked, args);
    if (edit.kind === "edit") return { args: edit.args };
    if (edit.kind === "invalid") throw new CallgateError("USAGE", edit.why);
    await noteRefused(seams, question, { ...given, why: edit.why });
    throw refusedError(`${approvalId} was not answered: ${edit.why}`, approvalId);
  }
}

/** Looked at before anything is answered, so that a grant that cannot be given takes no answer along. */
function grantOf({ grants }: GateApprovalsOptions, question: ApprovalQuestion, { approved, args, grant, by, signer }: GivenAnswer): Grant | undefined {
  if (grant === undefined) return undefined;
  if (!approved || args !== undefined) throw new CallgateError("USAGE", "A grant goes with the approval of a call as it was asked, not with a denial or other arguments. Nothing was answered");
  return grants.prepare(question, grant, { by, signer });
}

function signalOf({ now }: GateApprovalsOptions, question: ApprovalQuestion, { answer, by, args }: { readonly answer: GivenAnswer; readonly by: string; readonly args?: RecordedValue }): ApprovalSignal {
  const { approved, reason, signer } = answer;
  const said = { approved, ...(reason === undefined ? {} : { reason }), ...(args === undefined ? {} : { args }), atMs: now() };
  return signer === undefined ? { kind: "approval", approvalId: question.approvalId, by, ...said } : signAnswer(question, said, signer);
}

function whyNot({ rules, now }: GateApprovalsOptions, found: FoundQuestion, { given, isSigned }: { readonly given: { readonly by: string }; readonly isSigned: boolean }): string | undefined {
  const judge = createAnswerJudge(rules);
  const state = stateOf(found, now());
  if (state === "expired") return "nobody answered in time, so it is denied";
  if (state === "ended") return "its run has ended, and nothing is performed for it any more";
  if (judge.needsSignature && !isSigned) return "this gate takes signed answers only: callgate approvals approve asks for the passphrase of an approver";
  return judge.selfRefusal(found.question, given.by);
}

/** Kept for the record; it changes nothing. */
async function noteRefused({ journal, now, emit }: GateApprovalsOptions, question: ApprovalQuestion, refused: { readonly approved: boolean; readonly by: string; readonly why: string }): Promise<void> {
  const { approvalId, principal, runId, callId, tool } = question;
  const atMs = now();
  await journal.signal(principal.tenant, runId, { kind: "answer-refused", approvalId, ...refused, atMs }).catch((fault: unknown) => {
    // Ten thousand of them tell enough.
    if (!CallgateError.is(fault) || fault.code !== "SIGNAL_LIMIT") throw fault;
  });
  emit({ kind: "approval-refused", atMs, runId, principal, callId, tool, approvalId, by: refused.by, why: refused.why });
}

function refusedError(message: string, approvalId: string): CallgateError {
  return new CallgateError("SIGNAL_REFUSED", message, { details: { approvalId } });
}
