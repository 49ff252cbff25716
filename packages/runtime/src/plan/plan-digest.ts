import type { ApprovalQuestion, Digest, Plan } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";

/** Of all that a plan says; who approved it is no part of that. */
export function planDigest({ digest: _digest, approval: _approval, ...said }: Omit<Plan, "digest"> & { readonly digest?: Digest }): Digest {
  return digestOf(said);
}

/** The plan with its digest, and without an approval: that was of another one. */
export function withDigest(plan: Omit<Plan, "digest">): Plan {
  const { approval: _approval, ...unapproved } = plan;
  return { ...unapproved, digest: planDigest(plan) };
}

/** Of a program's text in its language. */
export function programDigest(text: string, language: string): Digest {
  return digestOf({ language, text });
}

/**
 * The question that approving a plan answers, in the form of every question to a person: its operation is the plan as it is,
 * against these tools, under this policy. A plan that differs in anything is another question.
 */
export function planQuestion({ digest, principal, rehearsal: { runId }, tools, policyVersion, items }: Plan, expiresAtMs: number): ApprovalQuestion {
  return {
    approvalId: planApprovalId(digest),
    principal,
    runId,
    callId: `${runId}.plan`,
    tool: "plan",
    definitionDigest: digestOf(tools),
    argsDigest: digest,
    argsSummary: { items: items.length },
    effect: items.some(({ effect }) => effect === "destructive") ? "destructive" : "write",
    policyVersion,
    ruleId: "plan",
    reason: "The writes of a rehearsed program",
    expiresAtMs,
  };
}

function planApprovalId(digest: Digest): string {
  return `apr_plan_${digest.slice("sha256:".length, "sha256:".length + 32)}`;
}
