import type { Durability } from "@callgate/contract";
import type { Ended, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";

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
    await call.record.flush(durability);
    return undefined;
  } catch (error) {
    return ended({
      outcome: "failed",
      code: "INTERNAL",
      tool: call.tool.name,
      message: `${call.tool.name} was not called: its intent could not be written to the journal (${call.safe.text(error instanceof Error ? error.message : String(error))}). Nothing was changed.`,
      retryable: true,
    });
  }
}
