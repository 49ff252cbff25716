import type { JournalEntry } from "@callgate/contract";

/** So many times in a row a run may take its process down without getting any further. */
export const maxLosses = 5;

/** How often the run was taken over from a lost process since it last got any further. */
export function lossesOf(entries: readonly JournalEntry[]): number {
  let losses = 0;
  for (const entry of entries) {
    if (entry.kind === "resumed" && entry.reason === "taken_over") losses += 1;
    else if (entry.kind === "delivered" || entry.kind === "suspended" || entry.kind === "call-ended") losses = 0;
  }
  return losses;
}
