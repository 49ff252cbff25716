import type { ApprovalQuestion, ApprovalSignal, Journal, JournalEntry, RunRecord } from "@callgate/contract";
import { answerIn } from "../approval/approval-signal.ts";

/** Runs that are read at once, and ended ones that are looked through for a question that was answered. */
const maxRuns = 1_000;

/** A question and the run that asked it. */
export interface FoundQuestion {
  readonly question: ApprovalQuestion;
  readonly askedAtMs: number;
  readonly run: RunRecord;
  /** With their clear values. */
  readonly entries: readonly JournalEntry[];
  readonly said: ApprovalSignal | undefined;
}

/** The run of a question is not in its id, so the open ones are looked through first, then those that have ended. */
export async function findQuestion(journal: Journal, tenant: string, approvalId: string): Promise<FoundQuestion | undefined> {
  for (const status of ["suspended", "running", undefined] as const) {
    for (const run of await (status === undefined ? journal.listRuns({ tenant, limit: maxRuns }) : openRuns(journal, { tenant, status }))) {
      const isWaitedFor = run.waits.some((wait) => wait.kind === "approval" && wait.question.approvalId === approvalId);
      if (status === "suspended" && !isWaitedFor) continue;
      const found = await inRun(journal, run, approvalId);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

async function inRun(journal: Journal, run: RunRecord, approvalId: string): Promise<FoundQuestion | undefined> {
  const { tenant } = run.principal;
  const isAsked = (entry: JournalEntry): boolean => entry.kind === "approval-asked" && entry.question.approvalId === approvalId;
  // Most runs are not the one: their values need not be decrypted.
  if (!(await journal.readEntries(tenant, run.runId)).some(isAsked)) return undefined;
  const [entries, signals] = await Promise.all([journal.readEntries(tenant, run.runId, { clear: true }), journal.readSignals(tenant, run.runId, { clear: true })]);
  const asked = entries.find(isAsked);
  if (asked?.kind !== "approval-asked") return undefined;
  return { question: asked.question, askedAtMs: asked.atMs, run, entries, said: answerIn(signals, approvalId) };
}

/** All of them, however many: the oldest question is asked as much as the newest. */
export async function openRuns(journal: Pick<Journal, "listRuns">, filter: { readonly tenant: string; readonly status: "suspended" | "running" }): Promise<readonly RunRecord[]> {
  const runs = new Map<string, RunRecord>();
  for (let beforeMs = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await journal.listRuns({ ...filter, limit: maxRuns, beforeMs });
    const before = runs.size;
    for (const run of page) runs.set(run.runId, run);
    const oldest = page.at(-1);
    if (oldest === undefined || page.length < maxRuns) return [...runs.values()];
    // Others may have begun in its millisecond; where all of a page did, the next begins before that.
    beforeMs = oldest.startedAtMs + (runs.size > before ? 1 : 0);
  }
}
