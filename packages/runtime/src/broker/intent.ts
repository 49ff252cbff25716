import type { Durability } from "@callgate/contract";
import type { Ended, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";

/**
 * Puts the intent of a write on disk before its effect (DESIGN D15): whatever happens next, the record knows that it may
 * have taken place. A write whose intent cannot be recorded does not happen. Reads need none.
 *
 * @param durability `lazy` before a person is asked: nothing has begun yet
 */
export async function recordIntent(call: ReadyCall, durability: Durability): Promise<Ended | undefined> {
  if (call.effect === "read") return undefined;
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
