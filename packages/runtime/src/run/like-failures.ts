import type { CallError, OutcomeKind } from "@callgate/contract";
import type { RecordedCall } from "./recorded-calls.ts";

/** How a call ended, as far as failures are counted. */
interface CallEnd {
  readonly tool: string;
  readonly outcome: OutcomeKind;
  readonly error: Pick<CallError, "code"> | undefined;
}

/** Counts, for each tool, how often its calls have failed in a row with the same code. A call that was cancelled says nothing. */
export interface LikeFailures {
  /** The failure that is the last one allowed. Undefined: there may be more. */
  note(end: CallEnd): { readonly tool: string; readonly code: string } | undefined;
}

/** @param earlier calls of a run that goes on: what failed before counts as well */
export function createLikeFailures(limit: number, earlier: Iterable<RecordedCall> = []): LikeFailures {
  const rows = new Map<string, { readonly code: string; readonly count: number }>();

  function note({ tool, outcome, error }: CallEnd): ReturnType<LikeFailures["note"]> {
    if (outcome === "cancelled") return undefined;
    if (outcome === "ok" || error === undefined) {
      rows.delete(tool);
      return undefined;
    }
    const { code } = error;
    const before = rows.get(tool);
    const count = before?.code === code ? before.count + 1 : 1;
    rows.set(tool, { code, count });
    return count >= limit ? { tool, code } : undefined;
  }

  const ended = [...earlier].flatMap((call) => (call.issued === undefined || call.ended === undefined ? [] : [{ tool: call.issued.tool, ...call.ended, error: call.ended.error }]));
  for (const end of ended.toSorted((one, other) => one.atMs - other.atMs)) note(end);
  return { note };
}
