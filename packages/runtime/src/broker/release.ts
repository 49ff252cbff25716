import { decodeValue } from "@callgate/contract";
import type { ApprovalQuestion, PolicyDecision, RecordedValue, WireValue } from "@callgate/contract";
import type { Approvals, Operation, Verdict } from "../approval/approvals.ts";
import { digestOf, digestOfWire } from "../lib/digest.ts";
import { sentence } from "../lib/sentence.ts";
import { askPerson, byWhom, scopedOf } from "./ask-person.ts";
import { policyFacts } from "./authorise.ts";
import { operationOf } from "./approve.ts";
import type { CallScope, Ended, ReadyCall } from "./call.ts";
import type { HeldResult, ParkedCall } from "./call-past.ts";
import { ended, withEffect } from "./ended.ts";
import { flushIntent } from "./intent.ts";
import { keptAnswers } from "./kept-answers.ts";
import { outputMarks } from "./pointers.ts";
import { okOutcome } from "./validate-output.ts";

type Ask = Extract<PolicyDecision, { kind: "ask" }>;
type Release = NonNullable<Ended["release"]>;

/**
 * Holds a good result against the policy: whether the program may have it. The call has taken place, and nothing of that
 * changes; what is withheld is the value.
 *
 * Where a person is asked, the result is on disk with the question before anyone is told of it: whoever goes on with the run
 * has it, and calls nothing again.
 */
export async function release(call: ReadyCall, end: Ended, approvals: Approvals): Promise<Ended | ParkedCall> {
  const { request } = call;
  const { outcome, wire } = end;
  // No program is there to have it.
  if (outcome.kind !== "ok" || wire === undefined || request.undo !== undefined || request.closing === true) return end;
  const decision = decideResult(call, () => outcome.value);
  const beside = decidedBeside(decision);
  const released = decision.kind === "allow" ? end : await releaseUnless(call, { end, outcome, wire, decision }, approvals);
  return beside === undefined || released.kind === "parked" ? released : { ...released, resultDecided: beside };
}

interface Questioned {
  readonly end: Ended;
  readonly outcome: Extract<Ended["outcome"], { kind: "ok" }>;
  readonly wire: WireValue;
  readonly decision: Exclude<PolicyDecision, { kind: "allow" }>;
}

async function releaseUnless(call: ReadyCall, { end, outcome, wire, decision }: Questioned, approvals: Approvals): Promise<Ended | ParkedCall> {
  const { seams, request, record } = call;
  const held: HeldResult = { effectStatus: outcome.effectStatus, attempts: end.attempts, result: seams.redactor.record(outcome.value, wire, outputMarks(call.tool)), artifacts: outcome.artifacts };
  if (decision.kind === "deny") return withheld(call, held, { released: false, ruleId: decision.ruleId, by: "policy", reason: decision.reason });
  const operation = resultOperation(call, decision, held.result);
  const before = approvals.deniedBefore(operation) ?? approvals.tooMany(request.runId);
  if (before !== undefined) return withheld(call, held, { released: false, ruleId: decision.ruleId, by: "policy", reason: before });
  const question: ApprovalQuestion = approvals.pose(operation);
  const atMs = seams.clock.now();
  record.add({ kind: "result-held", atMs, seq: request.seq, ...held });
  record.add({ kind: "approval-asked", atMs, seq: request.seq, question });
  call.state.wasAsked = true;
  const unrecorded = await flushIntent(call, "full");
  if (unrecorded !== undefined) return withheld(call, held, { released: false, ruleId: decision.ruleId, by: "nobody", reason: "The question could not be written to the journal" });
  seams.emit({ kind: "approval-asked", atMs, ...scopedOf(call), question });
  return await askAbout(call, { held, question, operation }, approvals);
}

/** What policies that do not hold would have decided. */
function decidedBeside(decision: PolicyDecision): Ended["resultDecided"] {
  const { next } = decision;
  const unobserved = decision.kind === "allow" ? decision.unobserved : undefined;
  if (next === undefined && unobserved === undefined) return undefined;
  return { ...(unobserved === undefined ? {} : { unobserved: { kind: unobserved.kind, ruleId: unobserved.ruleId } }), ...(next === undefined ? {} : { next }) };
}

/** Goes on with a result that an earlier stretch of the run has asked about. The policy of now has a say: it may deny. */
export async function releaseHeld(call: ReadyCall, held: HeldResult, approvals: Approvals): Promise<Ended | ParkedCall> {
  const { question } = call.request.past ?? {};
  const wire = held.result.clear;
  if (question === undefined || wire === undefined) return withheldBlind(call, held);
  call.state.wasAsked = true;
  const decision = decideResult(call, () => decodeValue(wire));
  if (decision.kind === "deny") return withheld(call, held, { released: false, ruleId: decision.ruleId, by: "policy", reason: decision.reason });
  const asked: Ask = decision.kind === "ask" ? decision : { kind: "ask", ruleId: question.ruleId, reason: question.reason };
  return await askAbout(call, { held, question, operation: resultOperation(call, asked, held.result) }, approvals);
}

/** The tool, or the value, is not there any more: nobody can be shown what they release. */
export function withheldBlind(scope: CallScope, held: HeldResult): Ended {
  const { ruleId = "policy:gone", tool = scope.request.tool } = scope.request.past?.question ?? {};
  return ended({ outcome: "denied", code: "RESULT_WITHHELD", tool, message: `The call of ${tool} took place. Its result is withheld: it, or its tool, is not there any more, so nobody can look at it`, effectStatus: held.effectStatus, attempts: held.attempts, details: { ruleId } });
}

interface Asked {
  readonly held: HeldResult;
  readonly question: ApprovalQuestion;
  readonly operation: Operation;
}

async function askAbout(call: ReadyCall, { held, question, operation }: Asked, approvals: Approvals): Promise<Ended | ParkedCall> {
  const { seams, request } = call;
  const verdict = await askPerson(call, question, { approvals, kept: keptAnswers(call) });
  if (verdict.kind === "pending") return { kind: "parked", wait: { kind: "approval", seq: request.seq, question }, past: { issued: true, begun: true, resolved: request.past?.resolved ?? 0, question, held } };
  const redeemed = verdict.kind === "approved" ? approvals.redeem(verdict.approvalId, operation) : undefined;
  const by = byWhom(verdict);
  const isReleased = redeemed?.kind === "redeemed";
  seams.emit({ kind: "approval-answered", atMs: seams.clock.now(), ...scopedOf(call), approvalId: verdict.approvalId, approved: isReleased, by });
  const { ruleId, approvalId } = question;
  if (verdict.kind === "cancelled") return ended({ outcome: "cancelled", code: "CANCELLED", tool: call.tool.name, message: withEffect(`The run was ended before anybody said whether the program may have the result of ${call.tool.name}`, call.effect, held.effectStatus), effectStatus: held.effectStatus, attempts: held.attempts });
  if (isReleased) return released(held, { released: true, ruleId, by, approvalId });
  return withheld(call, held, { released: false, ruleId, by, approvalId, reason: redeemed?.kind === "refused" ? redeemed.reason : reasonOf(verdict) });
}

function reasonOf(verdict: Exclude<Verdict, { kind: "pending" | "cancelled" }>): string {
  switch (verdict.kind) {
    case "denied":
      return verdict.refused === undefined ? `${verdict.by} refused it: ${verdict.reason}` : verdict.reason;
    case "unavailable":
      return `A person has to look at it, and nobody can here. ${verdict.help}`;
    case "approved":
      return "The approval did not hold";
  }
}

function released({ result, artifacts, effectStatus, attempts }: HeldResult, word: Release): Ended {
  const wire = result.clear ?? { json: "null", tagged: false };
  return { kind: "ended", outcome: okOutcome(wire, artifacts, effectStatus), wire, cached: false, attempts, release: word };
}

function withheld({ tool, safe, effect }: ReadyCall, { effectStatus, attempts }: HeldResult, { reason, ...word }: Release & { readonly reason: string }): Ended {
  const message = withEffect(safe.text(`${tool.name} was called, and its result is withheld: ${sentence(reason)} Do not try to get at it in another way.`), effect, effectStatus);
  return { ...ended({ outcome: "denied", code: "RESULT_WITHHELD", tool: tool.name, message, effectStatus, attempts, details: { ruleId: word.ruleId } }), release: word };
}

/** The call and what it gave: an answer is good for that and nothing else. */
function resultOperation(call: ReadyCall, decision: Ask, { digest, summary, clear }: RecordedValue): Operation {
  const result = clear === undefined ? digest : digestOfWire(clear);
  const reason = `The call has taken place; it is asked whether the program may have its result. ${decision.reason}`;
  return { ...operationOf(call, { ...decision, reason }), argsDigest: digestOf([call.argsDigest, result]), argsSummary: { arguments: call.argsSummary, result: summary }, isResult: true };
}

/** A policy that throws denies. */
function decideResult(call: ReadyCall, value: () => unknown): PolicyDecision {
  try {
    return call.seams.policy.decideResult({
      ...policyFacts(call),
      // Looked at where a policy is about it only.
      get result() {
        return value();
      },
    });
  } catch {
    return { kind: "deny", ruleId: "policy:fault", reason: "The policy could not decide about it" };
  }
}
