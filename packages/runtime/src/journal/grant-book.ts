import type { Digest, KeptGrant, LedgerEvent } from "@callgate/contract";
import { grantDigest } from "../lib/grant-digest.ts";
import type { KeptGrantUse } from "./record-rows.ts";

/** Grants and their uses as the tables have them. */
export interface BookedGrants {
  readonly grants: readonly KeptGrant[];
  readonly uses: readonly KeptGrantUse[];
}

/** What the ledger says of standing grants, and whether the tables say the same. */
export interface GrantBook {
  note(event: GrantEvent): void;
  problems(kept: BookedGrants, nowMs: number): readonly string[];
}

type GrantEvent = Extract<LedgerEvent, { kind: "grant-given" | "grant-used" | "grant-revoked" }>;

interface Booked {
  digest?: Digest;
  expiresAtMs?: number;
  revoked?: true;
  readonly calls: Set<string>;
}

export function createGrantBook(): GrantBook {
  const booked = new Map<string, Booked>();

  function find(grantId: string): Booked {
    let grant = booked.get(grantId);
    if (grant === undefined) booked.set(grantId, (grant = { calls: new Set() }));
    return grant;
  }

  return {
    note(event) {
      const grant = find(event.grantId);
      switch (event.kind) {
        case "grant-given":
          grant.digest = event.digest;
          grant.expiresAtMs = event.expiresAtMs;
          return;
        case "grant-used":
          return void grant.calls.add(event.callId);
        case "grant-revoked":
          grant.revoked = true;
      }
    },
    problems({ grants, uses }, nowMs) {
      const callsOf = Map.groupBy(uses, ({ grantId }) => grantId);
      const left = new Set(booked.keys());
      const changed = grants.flatMap((grant) => {
        left.delete(grant.grantId);
        const problem = problemOf(grant, booked.get(grant.grantId), callsOf.get(grant.grantId) ?? []);
        return problem === undefined ? [] : [`Grant ${grant.grantId} is not as the ledger has it: ${problem}`];
      });
      // The journal is cleaned of those that have expired; a missing one lets nothing through.
      const removed = [...left].filter((grantId) => (booked.get(grantId)?.expiresAtMs ?? 0) > nowMs);
      return [...changed, ...removed.map((grantId) => `Grant ${grantId} was removed outside of Callgate`)];
    },
  };
}

function problemOf(grant: KeptGrant, booked: Booked | undefined, uses: readonly KeptGrantUse[]): string | undefined {
  const { uses: _uses, revoked, ...given } = grant;
  if (booked?.digest === undefined) return "the ledger does not know it";
  if (booked.digest !== grantDigest(given)) return "it was changed";
  if ((booked.revoked === true) !== (revoked !== undefined)) return revoked === undefined ? "it was revoked, and that was taken back" : "the ledger does not know that it was revoked";
  const calls = new Set(uses.map(({ callId }) => callId));
  if (booked.calls.size !== calls.size || [...booked.calls].some((callId) => !calls.has(callId))) return `the ledger knows ${booked.calls.size} uses, and there are ${calls.size}`;
  return undefined;
}
