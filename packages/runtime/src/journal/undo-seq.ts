/** Calls that undo others are numbered from here: the call they undo, added. Programs never come so far. */
const undoSeqFrom = 1_000_000_000;

/** The number of the call that undoes the call of that number, in the record of their run. */
export function undoSeqOf(seq: number): number {
  return undoSeqFrom + seq;
}
