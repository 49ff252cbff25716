import type { LedgerEvent } from "@callgate/contract";
import { z } from "zod";

const [text, number] = [z.string(), z.number()];

/** What whoever reads a ledger relies on. Somebody may have changed it, and that must be told, not fallen over. */
const shape = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ledger-began"), unchainedRuns: number }),
  z.object({ kind: z.literal("lane-opened"), lane: number }),
  z.object({ kind: z.literal("run-began"), runId: text, from: number }),
  z.object({ kind: z.literal("run-ended"), runId: text, entries: number, stamp: text }),
  z.object({ kind: z.literal("run-told"), runId: text, position: number, stamp: text }),
  z.object({ kind: z.literal("run-erased"), runId: text }),
  z.object({ kind: z.literal("runs-removed"), runs: z.array(z.object({ runId: text })) }),
  z.object({ kind: z.literal("ledger-cut"), lane: number, upTo: number, stamp: text, runs: number }),
  z.object({ kind: z.literal("hold-placed"), hold: z.object({ holdId: text, covers: z.object({}) }) }),
  z.object({ kind: z.literal("hold-released"), holdId: text }),
  z.object({ kind: z.literal("grant-given"), grantId: text, digest: text, expiresAtMs: number }),
  z.object({ kind: z.literal("grant-used"), grantId: text, callId: text }),
  z.object({ kind: z.literal("grant-revoked"), grantId: text }),
]);

/** Whether something in a line of the ledger is an event as far as anybody looks at it. */
export function isLedgerEvent(value: unknown): value is LedgerEvent {
  return shape.safeParse(value).success;
}
