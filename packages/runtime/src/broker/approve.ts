import type { ApprovalQuestion, PolicyDecision } from "@callgate/contract";
import type { Approvals, Operation, Verdict } from "../approval/approvals.ts";
import { authorise } from "./authorise.ts";
import type { Ended, ReadyCall } from "./call.ts";
import type { ParkedCall } from "./call-past.ts";
import { ended } from "./ended.ts";
import { flushIntent } from "./intent.ts";
import { keptAnswers } from "./kept-answers.ts";
import { isVisible } from "./resolve.ts";
import { cancelledBefore } from "./validate-input.ts";

type Ask = Extract<PolicyDecision, { kind: "ask" }>;

/**
 * Puts the question to a person and holds the answer against the world as it is by then: the same call, the same tool
 * definition, the same policy, and still nothing that denies it. Undefined: the call may go on.
 *
 * The question is on disk before anyone is told of it, so that no restart loses it. One that was asked in an earlier
 * stretch of the run is the same question still.
 */
export async function approve(call: ReadyCall, decision: Ask, approvals: Approvals): Promise<Ended | ParkedCall | undefined> {
  const { seams, request, tool } = call;
  const scoped = { runId: request.runId, principal: request.principal, callId: request.callId, tool: tool.name };
  const { question: before, said } = request.past ?? {};
  call.state.wasAsked = true;
  const question = before ?? approvals.pose(operationOf(call, decision));
  if (before === undefined) {
    call.record.add({ kind: "approval-asked", atMs: seams.clock.now(), seq: request.seq, question });
    const unrecorded = await flushIntent(call, "full");
    if (unrecorded !== undefined) return unrecorded;
    seams.emit({ kind: "approval-asked", atMs: seams.clock.now(), ...scoped, question });
  }
  const started = seams.clock.monotonic();
  const verdict = await approvals.ask(question, { signal: call.stop.signal, kept: keptAnswers(call), ...(said?.kind === "approval" ? { answer: said } : {}) });
  call.state.personMs += seams.clock.monotonic() - started;
  if (verdict.kind === "pending") return parkedOn(call, question);
  seams.emit({ kind: "approval-answered", atMs: seams.clock.now(), ...scoped, approvalId: verdict.approvalId, approved: verdict.kind === "approved", by: byWhom(verdict) });
  return settle(call, decision, { verdict, approvals });
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
    // The arguments are those of the call that is undone: whoever is asked must not take it for that call.
    reason: request.undo === undefined ? decision.reason : `This undoes call ${request.runId}.${request.undo.seq}. ${decision.reason}`,
  };
}

function settle(call: ReadyCall, decision: Ask, { verdict, approvals }: { readonly verdict: Exclude<Verdict, { kind: "pending" }>; readonly approvals: Approvals }): Ended | undefined {
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
      note(call, { decision: "deny", ruleId: decision.ruleId, reason: verdict.reason, answeredBy: verdict.by });
      return denied(call, { ruleId: decision.ruleId, reason: `${verdict.by} refused it: ${verdict.reason}` });
    case "approved": {
      const redeemed = approvals.redeem(verdict.approvalId, operationOf(call, decision));
      const refusal = redeemed.kind === "refused" ? { ruleId: decision.ruleId, reason: redeemed.reason } : refusedMeanwhile(call);
      if (refusal !== undefined) {
        note(call, { decision: "deny", ...refusal, answeredBy: verdict.by });
        return denied(call, refusal);
      }
      note(call, { decision: "allow", ruleId: decision.ruleId, answeredBy: verdict.by });
      return undefined;
    }
  }
}

/** An approval answers "ask"; it does not outweigh a denial, nor make a tool visible. */
function refusedMeanwhile(call: ReadyCall): { readonly ruleId: string; readonly reason: string } | undefined {
  if (!isVisible(call, call.tool)) return { ruleId: "visibility", reason: "The caller lost the right to this tool meanwhile" };
  const again = authorise(call);
  return again.kind === "deny" ? again : undefined;
}

function byWhom(verdict: Verdict): string {
  return verdict.kind === "approved" || verdict.kind === "denied" ? verdict.by : "nobody";
}

interface Note {
  readonly decision: "allow" | "deny";
  readonly ruleId: string;
  readonly reason?: string;
  readonly answeredBy?: string;
}

function note(call: ReadyCall, { decision, ruleId, reason, answeredBy }: Note): void {
  call.record.add({
    kind: "call-decided",
    atMs: call.seams.clock.now(),
    seq: call.request.seq,
    decision,
    ruleId,
    ...(reason === undefined ? {} : { reason: call.safe.text(reason) }),
    ...(answeredBy === undefined ? {} : { answeredBy }),
  });
}

/** A refusal, by policy or a person. It is no failure, and no other way round it is offered. */
export function denied(call: ReadyCall, { ruleId, reason, help }: { readonly ruleId: string; readonly reason: string; readonly help?: string }): Ended {
  const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
  return ended({
    outcome: "denied",
    code: "DENIED",
    tool: call.tool.name,
    message: call.safe.text(`${call.tool.name} was refused: ${sentence(reason)} It did not happen; do not call it again, nor try to reach the same in another way.${help === undefined ? "" : ` ${sentence(help)}`}`),
    details: { ruleId },
  });
}
