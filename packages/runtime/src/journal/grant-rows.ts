import type { Grant, GrantClaim, GrantUse, KeptGrant, LedgerEvent } from "@callgate/contract";
import { grantDigest } from "../lib/grant-digest.ts";
import { jsonColumn, optionalNumber, optionalText, textColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import type { KeptGrantUse } from "./record-rows.ts";
import { grantShape } from "./stored-shapes.ts";

// Standing grants as rows of the tables `grants` and `grant_uses`, in every database.

export const insertGrant = "(grant_id, tenant, user_id, body, given_at_ms, expires_at_ms)";

export function grantValues(grant: Grant): (string | number)[] {
  const { grantId, tenant, by, givenAtMs, expiresAtMs } = grant;
  return [grantId, tenant, by, JSON.stringify(grant), givenAtMs, expiresAtMs];
}

/** From a row with the number of its uses as `uses`. */
export function grantOf(row: Row): KeptGrant {
  const [revokedAtMs, revokedBy] = [optionalNumber(row, "revoked_at_ms"), optionalText(row, "revoked_by")];
  return { ...jsonColumn<Grant>(row, "body", grantShape), uses: Number(row["uses"]), ...(revokedAtMs === undefined ? {} : { revoked: { by: revokedBy ?? "", atMs: revokedAtMs } }) };
}

export function grantUseOf(row: Row): KeptGrantUse {
  return { grantId: textColumn(row, "grant_id"), callId: textColumn(row, "call_id") };
}

export function grantGiven(grant: Grant): LedgerEvent {
  const { grantId, tool, expiresAtMs, by } = grant;
  return { kind: "grant-given", grantId, tool, digest: grantDigest(grant), expiresAtMs, by };
}

export interface GrantStanding {
  /** Undefined: there is none. */
  readonly row: Row | undefined;
  /** The call has a use of it already. */
  readonly isUsed: boolean;
  readonly uses: number;
  readonly nowMs: number;
}

/** Whether a call may have a use. `maxUses` and `expiresAtMs` are those that were signed. */
export function grantAnswer({ maxUses, expiresAtMs }: GrantClaim, { row, isUsed, uses, nowMs }: GrantStanding): GrantUse {
  if (row === undefined) return { kind: "refused", why: "unknown" };
  if (row["revoked_at_ms"] !== null) return { kind: "refused", why: "revoked" };
  if (nowMs >= expiresAtMs) return { kind: "refused", why: "expired" };
  if (isUsed) return { kind: "used", use: uses };
  return uses >= maxUses ? { kind: "refused", why: "spent" } : { kind: "used", use: uses + 1 };
}
