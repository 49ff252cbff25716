import type { Clock, Grant, JournalGrants, KeptGrant } from "@callgate/contract";

/** Standing grants of one process, for journals that stand in for one. */
export function memoryGrants(clock: Pick<Clock, "now">): JournalGrants {
  const kept = new Map<string, { readonly grant: Grant; readonly calls: Set<string>; revoked?: KeptGrant["revoked"] }>();
  const keptOf = ({ grant, calls, revoked }: NonNullable<ReturnType<typeof kept.get>>): KeptGrant => ({ ...grant, uses: calls.size, ...(revoked === undefined ? {} : { revoked }) });
  return {
    give: async (grant) => {
      kept.set(grant.grantId, { grant, calls: new Set() });
      return await Promise.resolve();
    },
    revoke: async ({ tenant, grantId, by }) => {
      const found = kept.get(grantId);
      if (found === undefined || found.grant.tenant !== tenant || found.revoked !== undefined) return await Promise.resolve(undefined);
      found.revoked = { by, atMs: clock.now() };
      return keptOf(found);
    },
    list: async (tenant) => await Promise.resolve([...kept.values()].filter(({ grant }) => grant.tenant === tenant).map(keptOf)),
    use: async (_lease, { grantId, callId, maxUses, expiresAtMs }) => {
      const found = await Promise.resolve(kept.get(grantId));
      if (found === undefined) return { kind: "refused", why: "unknown" };
      if (found.revoked !== undefined) return { kind: "refused", why: "revoked" };
      if (clock.now() >= expiresAtMs) return { kind: "refused", why: "expired" };
      if (!found.calls.has(callId) && found.calls.size >= maxUses) return { kind: "refused", why: "spent" };
      found.calls.add(callId);
      return { kind: "used", use: found.calls.size };
    },
  };
}
