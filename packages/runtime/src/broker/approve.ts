import { encodeValue } from "@callgate/contract";
import type { ApprovalQuestion, PolicyDecision, RecordedValue } from "@callgate/contract";
import type { Approvals, Operation, Verdict } from "../approval/approvals.ts";
import { sentence } from "../lib/sentence.ts";
import { askPerson, byWhom, scopedOf } from "./ask-person.ts";
import { authorise } from "./authorise.ts";
import type { Ended, ReadyCall } from "./call.ts";
import type { ParkedCall } from "./call-past.ts";
import { editCall, noteEdit } from "./edit-call.ts";
import { ended } from "./ended.ts";
import { flushIntent } from "./intent.ts";
import { isEnded } from "./is-ended.ts";
import { keptAnswers } from "./kept-answers.ts";
import { isVisible } from "./resolve.ts";
import { inputMarks } from "./pointers.ts";
import { useStandingGrant } from "./standing-grant.ts";
import { cancelledBefore } from "./validate-input.ts";

type Ask = Extract<PolicyDecision, { kind: "ask" }>;

/**
 * Lets the call through where a standing grant covers it; else puts the question to a person and holds the answer against
 * the world as it is by then: the same call, the same tool definition, the same policy, and still nothing that denies it.
 * Gives the call as it is to be performed: with the arguments that the person put in the place of its own, where they did.
 *
 * The question is on disk before anyone is told of it, so that no restart loses it. One that was asked in an earlier
 * stretch of the run is the same question still.
 */
export async function approve(call: ReadyCall, decision: Ask, approvals: Approvals): Promise<Ended | ParkedCall | ReadyCall> {
  const { seams, request } = call;
  const before = request.past?.question;
  if (before === undefined && (await useStandingGrant(call, decision, approvals))) return call;
  const tooMany = before === undefined ? approvals.tooMany(request.runId) : undefined;
  if (tooMany !== undefined) return refuse(call, { ruleId: "approvals:rate", reason: tooMany });
  call.state.wasAsked = true;
  const question = before ?? approvals.pose(operationOf(call, decision));
  if (before === undefined) {
    call.record.add({ kind: "approval-asked", atMs: seams.clock.now(), seq: request.seq, question });
    const unrecorded = await flushIntent(call, "full");
    if (unrecorded !== undefined) return unrecorded;
    seams.emit({ kind: "approval-asked", atMs: seams.clock.now(), ...scopedOf(call), question });
  }
  const verdict = await askPerson(call, question, { approvals, kept: keptAnswers({ ...call, recordArgs: (args) => recordArgs(call, args) }) });
  if (verdict.kind === "pending") return parkedOn(call, question);
  seams.emit({ kind: "approval-answered", atMs: seams.clock.now(), ...scopedOf(call), approvalId: verdict.approvalId, approved: verdict.kind === "approved", by: byWhom(verdict) });
  return await settle(call, decision, { verdict, approvals });
}

/** The arguments a person gave, as the journal keeps them. */
function recordArgs({ seams, tool }: ReadyCall, args: unknown): RecordedValue {
  return seams.redactor.record(args, encodeValue(args), inputMarks(tool));
}

function parkedOn({ request }: ReadyCall, question: ApprovalQuestion): ParkedCall {
  return { kind: "parked", wait: { kind: "approval", seq: request.seq, question }, past: { issued: true, begun: false, resolved: request.past?.resolved ?? 0, question } };
}

/** The operation as it stands now. A tool that is gone has no definition, which is a difference as well. */
export function operationOf(call: ReadyCall, decision: Ask): Operation {
  const { request, seams, tool } = call;
  return {
    principal: request.principal,
    runId: request.runId,
    callId: request.callId,
    tool: tool.name,
    definitionDigest: request.catalog.resolve(tool.name)?.definitionDigest ?? "sha256:gone",
    argsDigest: call.argsDigest,
    argsSummary: call.argsSummary,
    effect: call.effect,
    policyVersion: seams.policy.version,
    ruleId: decision.ruleId,
    ...(decision.from === undefined ? {} : { from: decision.from }),
    ...(request.taint.marks.length === 0 ? {} : { taint: request.taint.marks }),
    // The arguments are those of the call that is undone: whoever is asked must not take it for that call.
    reason: request.undo === undefined ? decision.reason : `This undoes call ${request.runId}.${request.undo.seq}. ${decision.reason}`,
    ...(request.undo === undefined ? {} : { undoes: request.undo.seq }),
  };
}

async function settle(call: ReadyCall, decision: Ask, { verdict, approvals }: { readonly verdict: Exclude<Verdict, { kind: "pending" }>; readonly approvals: Approvals }): Promise<Ended | ReadyCall> {
  const name = call.tool.name;
  switch (verdict.kind) {
    case "cancelled":
      return cancelledBefore(name);
    case "unavailable":
      note(call, { decision: "deny", ruleId: decision.ruleId, reason: verdict.help });
      return ended({
        outcome: "denied",
        code: "APPROVAL_UNAVAILABLE",
        tool: name,
        message: `${name} needs a person's approval and nobody can give it here. It did not happen; do not call it again. ${call.safe.text(verdict.help)}`,
        details: { ruleId: decision.ruleId },
      });
    case "denied":
      note(call, { decision: "deny", ruleId: decision.ruleId, reason: verdict.reason, ...(verdict.refused === undefined ? { answeredBy: verdict.by } : {}) });
      return denied(call, { ruleId: decision.ruleId, reason: verdict.refused === undefined ? `${verdict.by} refused it: ${verdict.reason}` : verdict.reason });
    case "approved": {
      const redeemed = approvals.redeem(verdict.approvalId, operationOf(call, decision));
      const refusal = redeemed.kind === "refused" ? { ruleId: decision.ruleId, reason: redeemed.reason } : refusedMeanwhile(call);
      if (refusal !== undefined) return refuse(call, { ...refusal, answeredBy: verdict.by });
      const performed = verdict.args === undefined ? call : await editCall(call, verdict.args);
      if (isEnded(performed)) return refuse(call, { ruleId: decision.ruleId, reason: `The arguments that ${verdict.by} put in place of its own do not hold: ${performed.outcome.kind === "ok" ? "" : performed.outcome.error.message}`, answeredBy: verdict.by });
      const denial = performed === call ? undefined : refusedMeanwhile(performed);
      if (denial !== undefined) return refuse(call, { ...denial, reason: `With the arguments that ${verdict.by} put in place of its own: ${denial.reason}`, answeredBy: verdict.by });
      if (verdict.args !== undefined) noteEdit(performed, { args: verdict.args, approvalId: verdict.approvalId, by: verdict.by });
      note(call, { decision: "allow", ruleId: decision.ruleId, answeredBy: verdict.by });
      return performed;
    }
  }
}

function refuse(call: ReadyCall, refusal: Omit<Note, "decision"> & { readonly reason: string }): Ended {
  note(call, { decision: "deny", ...refusal });
  return denied(call, refusal);
}

/** An approval answers "ask"; it does not outweigh a denial, nor make a tool visible. */
export function refusedMeanwhile(call: ReadyCall): { readonly ruleId: string; readonly reason: string } | undefined {
  if (!isVisible(call, call.tool)) return { ruleId: "visibility", reason: "The caller lost the right to this tool meanwhile" };
  const again = authorise(call);
  return again.kind === "deny" ? again : undefined;
}

interface Note {
  readonly decision: "allow" | "ask" | "deny";
  readonly ruleId: string;
  readonly reason?: string;
  readonly answeredBy?: string;
  /** Of the plan that the run is pinned to. */
  readonly planItem?: string;
}

export function note(call: ReadyCall, { decision, ruleId, reason, answeredBy, planItem }: Note): void {
  call.record.add({
    kind: "call-decided",
    atMs: call.seams.clock.now(),
    seq: call.request.seq,
    decision,
    ruleId,
    ...(reason === undefined ? {} : { reason: call.safe.text(reason) }),
    ...(answeredBy === undefined ? {} : { answeredBy }),
    ...(planItem === undefined ? {} : { planItem }),
  });
}

/** A refusal, by policy or a person. It is no failure, and no other way round it is offered. */
export function denied(call: ReadyCall, { ruleId, reason, help }: { readonly ruleId: string; readonly reason: string; readonly help?: string }): Ended {
  return ended({
    outcome: "denied",
    code: "DENIED",
    tool: call.tool.name,
    message: call.safe.text(`${call.tool.name} was refused: ${sentence(reason)} It did not happen; do not call it again, nor try to reach the same in another way.${help === undefined ? "" : ` ${sentence(help)}`}`),
    details: { ruleId },
  });
}
