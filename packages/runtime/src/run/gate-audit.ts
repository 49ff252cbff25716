import { CallgateError } from "@callgate/contract";
import type { GateAudit, Journal, Principal } from "@callgate/contract";

/** The record as those see it who answer for it. Holds and lines are those of the caller's tenant. */
export function createGateAudit({ audit }: Pick<Journal, "audit">, principal: Principal): GateAudit {
  return {
    verify: (options) => audit.verify(options),
    ledger: ({ principal: { tenant } = principal, limit } = {}) => audit.ledger(tenant, limit === undefined ? {} : { limit }),
    async hold({ covers, reason }, { principal: { tenant, user } = principal } = {}) {
      if (reason.trim() === "") throw new CallgateError("USAGE", "A legal hold needs a reason: who releases it later must know what it was for");
      return await audit.hold({ tenant, covers, reason, by: user });
    },
    release: (holdId, { principal: { tenant, user } = principal } = {}) => audit.release(tenant, holdId, user),
    holds: ({ principal: { tenant } = principal } = {}) => audit.holds(tenant),
  };
}
