import type { JournalEntry } from "@callgate/contract";
import { undoSeqOf } from "./undo-seq.ts";

/** What tells how a write stands: its end, a late result, a resolution, and of the call that undoes it also that it was begun. */
export type Settling = Extract<JournalEntry, { readonly kind: "call-issued" | "call-ended" | "call-late" | "call-resolved" }>;

/** Whether an entry tells how the write of the call of that number stands. */
export function settlesWrite(entry: JournalEntry, seq: number): entry is Settling {
  if (entry.kind === "call-issued") return entry.seq === undoSeqOf(seq);
  return (entry.kind === "call-ended" || entry.kind === "call-late" || entry.kind === "call-resolved") && (entry.seq === seq || entry.seq === undoSeqOf(seq));
}
