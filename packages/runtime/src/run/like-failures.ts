import type { CallError, OutcomeKind } from "@callgate/contract";
import type { RecordedCall } from "./recorded-calls.ts";

/** How a call ended, as far as failures are counted. */
interface CallEnd {
  readonly tool: string;
  readonly outcome: OutcomeKind;
  readonly error: Pick<CallError, "code"> | undefined;
}

/** What has been tried as often as it may. `denied`: calls of the run that were denied, of whatever tool. */
export type LikeFailure = { readonly kind: "failed"; readonly tool: string; readonly code: string } | { readonly kind: "denied" };

/**
 * Counts, for each tool, how often its calls have failed in a row with the same code; and how often calls of the run were
 * denied in all, for who is denied one tool tries another. A call that was cancelled says nothing.
 */
export interface LikeFailures {
  /** The failure that is the last one allowed. Undefined: there may be more. */
  note(end: CallEnd): LikeFailure | undefined;
}

/** @param earlier calls of a run that goes on: what failed before counts as well */
export function createLikeFailures(limit: number, earlier: Iterable<RecordedCall> = []): LikeFailures {
  const rows = new Map<string, { readonly code: string; readonly count: number }>();
  let denials = 0;

  function note({ tool, outcome, error }: CallEnd): LikeFailure | undefined {
    // What a person left out of the plan of the run is no sign of a program that does not listen.
    if (outcome === "cancelled" || (outcome === "denied" && error?.code === "PLAN_DROPPED")) return undefined;
    if (outcome === "denied") {
      denials += 1;
      return denials >= limit ? { kind: "denied" } : undefined;
    }
    if (outcome === "ok" || error === undefined) {
      rows.delete(tool);
      return undefined;
    }
    const { code } = error;
    const before = rows.get(tool);
    const count = before?.code === code ? before.count + 1 : 1;
    rows.set(tool, { code, count });
    return count >= limit ? { kind: "failed", tool, code } : undefined;
  }

  const ended = [...earlier].flatMap((call) => (call.issued === undefined || call.ended === undefined ? [] : [{ tool: call.issued.tool, ...call.ended, error: call.ended.error }]));
  for (const end of ended.toSorted((one, other) => one.atMs - other.atMs)) note(end);
  return { note };
}
