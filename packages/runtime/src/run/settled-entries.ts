import type { AnswerSignature, JournalEntry, RecordedValue } from "@callgate/contract";

export interface Settled {
  readonly seq: number;
  readonly happened: boolean;
  readonly output?: RecordedValue;
  readonly by: string;
  readonly signature?: AnswerSignature;
  readonly atMs: number;
}

/** What a person knew of a write that nobody goes on with. Its output is kept for whatever undoes it. */
export function settledEntries({ seq, happened, output, by, signature, atMs }: Settled): readonly JournalEntry[] {
  const effectStatus = happened ? "done" : "none";
  const late: readonly JournalEntry[] = happened && output !== undefined ? [{ kind: "call-late", atMs, seq, effectStatus, result: output }] : [];
  return [...late, { kind: "call-resolved", atMs, seq, effectStatus, how: "person", by, ...(signature === undefined ? {} : { signature }) }];
}
