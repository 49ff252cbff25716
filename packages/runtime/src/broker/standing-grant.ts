import type { KeptGrant, PolicyDecision } from "@callgate/contract";
import type { Approvals } from "../approval/approvals.ts";
import { isCovered } from "../approval/grant-scope.ts";
import { ruleDigest } from "../policy/asking-rules.ts";
import { isOutflow } from "../policy/default-policy.ts";
import { scopedOf } from "./ask-person.ts";
import type { ReadyCall } from "./call.ts";

type Ask = Extract<PolicyDecision, { kind: "ask" }>;

/**
 * Whether a standing grant lets a call through that the policy asks about. One use of it is taken, and written down, before
 * the call begins; a call that comes again after a restart has the use it had.
 *
 * No grant is looked for where a call is undone: that was not granted by granting the call. Nor where it could carry out
 * what the run has read: who gave the grant did not see that.
 */
export async function useStandingGrant(call: ReadyCall, decision: Ask, approvals: Approvals): Promise<boolean> {
  const { seams, request } = call;
  if (request.undo !== undefined || isOutflow({ spec: call.tool.tool, taint: request.taint.labels })) return false;
  for (const grant of await openGrants(call, decision, approvals)) {
    const { grantId, maxUses, expiresAtMs, by } = grant;
    const answer = await seams.journal.grants.use(request.lease, { tenant: request.principal.tenant, grantId, callId: request.callId, maxUses, expiresAtMs });
    if (answer.kind === "refused") continue;
    noteUse(call, decision, grant);
    // A person's word stands behind it: what it gave is kept, and nobody is asked again.
    call.state.wasAsked = true;
    seams.emit({ kind: "grant-used", atMs: seams.clock.now(), ...scopedOf(call), grantId, by, use: answer.use, maxUses });
    return true;
  }
  return false;
}

/** Those that cover the call, soonest to expire first. Whether a use is left the journal says. */
async function openGrants({ seams, request, tool, argsDigest, args }: ReadyCall, { ruleId }: Ask, approvals: Approvals): Promise<readonly KeptGrant[]> {
  const { principal } = request;
  const kept = await seams.journal.grants.list(principal.tenant);
  if (kept.length === 0) return [];
  const operation = { principal, tool: tool.name, definitionDigest: tool.definitionDigest, argsDigest, args: args.value, rule: { ruleId, digest: ruleDigest(seams.policy, ruleId) } };
  return kept
    .filter((grant) => grant.tenant === principal.tenant && grant.revoked === undefined && grant.expiresAtMs > seams.clock.now() && isCovered(grant, operation) && approvals.grantRefusal(withoutCount(grant), principal) === undefined)
    .toSorted((one, other) => one.expiresAtMs - other.expiresAtMs);
}

/** What its giver signed. */
function withoutCount({ uses: _uses, revoked: _revoked, ...grant }: KeptGrant): Omit<KeptGrant, "uses" | "revoked"> {
  return grant;
}

function noteUse({ seams, request, record }: ReadyCall, { ruleId }: Ask, { by, grantId }: KeptGrant): void {
  record.add({ kind: "call-decided", atMs: seams.clock.now(), seq: request.seq, decision: "allow", ruleId, answeredBy: by, grantId });
}
