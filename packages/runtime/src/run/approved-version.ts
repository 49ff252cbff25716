import type { ApprovalQuestion, ApprovedVersion, Journal, Redactor } from "@callgate/contract";
import { textDiff } from "../lib/text-diff.ts";
import { timeText } from "../lib/time-text.ts";
import { visible } from "../lib/visible.ts";
import { approvedIn } from "./last-approved.ts";

/**
 * The last approved version of a program under review, and what differs since: made from both programs on record when
 * somebody looks, so that it goes with the earlier run when that is erased. Undefined: the question names none.
 */
export async function approvedVersion({ journal, redactor }: { readonly journal: Pick<Journal, "readRun">; readonly redactor: Redactor }, { principal, argsSummary }: ApprovalQuestion, program: string | undefined): Promise<ApprovedVersion | undefined> {
  const approved = approvedIn(argsSummary);
  if (approved === undefined) return undefined;
  const earlier = await journal.readRun(principal.tenant, approved.runId);
  const text = earlier?.principal.user === principal.user ? earlier.programText : undefined;
  const diff = text === undefined || program === undefined ? undefined : textDiff(redactor.output(text), redactor.output(program));
  return { ...approved, ...(diff === undefined ? {} : { diff }) };
}

/** The same in a sentence. */
export function approvedVersionText(question: Pick<ApprovalQuestion, "argsSummary">, shown: ApprovedVersion | undefined): string {
  const approved = shown ?? approvedIn(question.argsSummary);
  if (approved === undefined) return "no version of it was approved among the last runs";
  const { runId, by, startedAtMs } = approved;
  const of = `${visible(by)} approved ${runId} of ${timeText(startedAtMs)}`;
  if (shown === undefined) return `${of}; callgate approvals show tells what differs`;
  const { diff } = shown;
  if (diff === undefined) return `${of}; what differs cannot be told, for one of them is erased or hardly a line is the same`;
  return diff.text === "" ? `${of}; not a line differs` : `${of}; since then ${lines(diff.addedLines)} came and ${lines(diff.removedLines)} went`;
}

function lines(count: number): string {
  return `${count} ${count === 1 ? "line" : "lines"}`;
}
