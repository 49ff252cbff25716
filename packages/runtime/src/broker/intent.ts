import type { Durability } from "@callgate/contract";
import type { Ended, Moment, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";
import { journalRefusal } from "./journal-refusal.ts";

/**
 * Puts the intent of a write on disk before its effect (DESIGN D15): whatever happens next, the record knows that it may
 * have taken place. A write whose intent cannot be recorded does not happen. Reads need none.
 */
export async function recordIntent(call: ReadyCall): Promise<Ended | undefined> {
  return call.effect === "read" ? undefined : await flushIntent(call, "full");
}

/** Writes down what is known of a call so far. The call does not happen if that fails. */
export async function flushIntent(call: ReadyCall, durability: Durability): Promise<Ended | undefined> {
  try {
    const askedAt = momentOf(call);
    if (await call.record.flush(durability)) call.state.confirmedAt = askedAt;
    await confirmLease(call);
    return undefined;
  } catch (error) {
    const notDone = `${call.tool.name} was not ${call.state.attempts === 0 ? "called" : "tried again"}`;
    const refusal = journalRefusal(error);
    if (refusal !== undefined) {
      const { code, why, toDo, retryable } = refusal;
      return ended({ outcome: "failed", code, tool: call.tool.name, message: `${notDone}: a write is written down before it is made, and ${why}. Nothing was changed. ${toDo}`, retryable });
    }
    return ended({
      outcome: "failed",
      code: "INTERNAL",
      tool: call.tool.name,
      message: `${notDone}: its intent could not be written to the journal (${call.safe.text(error instanceof Error ? error.message : String(error))}). Nothing was changed.`,
      retryable: true,
    });
  }
}

function momentOf({ seams }: ReadyCall): Moment {
  return { wallMs: seams.clock.now(), monotonicMs: seams.clock.monotonic() };
}

/**
 * A process that stood still since its intent was written may have lost its run without knowing. The journal's word that
 * the run is ours must be younger than half a lease when the effect begins; else it is asked again, and may refuse.
 */
async function confirmLease(call: ReadyCall): Promise<void> {
  const { seams, state, request } = call;
  for (;;) {
    const { wallMs, monotonicMs } = momentOf(call);
    const since = state.confirmedAt;
    if (since !== undefined && Math.max(wallMs - since.wallMs, monotonicMs - since.monotonicMs) <= seams.leaseMs / 2) return;
    await seams.journal.renew(request.lease, seams.leaseMs);
    state.confirmedAt = { wallMs, monotonicMs };
  }
}
