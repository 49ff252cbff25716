import type { Gate, RunRecord, RunUnreadable } from "@callgate/contract";

/** Runs of each status that are looked at; the newest. */
const maxRuns = 1_000;

/** Runs that are sealed under another master key than this process has: those that have not ended, and the latest others. */
export async function unreadableRuns(gate: Pick<Gate, "runs">): Promise<readonly RunRecord[]> {
  const pages = await Promise.all([{ status: "suspended" as const }, { status: "running" as const }, {}].map((filter) => gate.runs.list({ ...filter, limit: maxRuns })));
  const runs = new Map(pages.flat().filter(({ unreadable }) => unreadable === "other_key").map((run) => [run.runId, run]));
  return [...runs.values()];
}

/** Why a run cannot be read, and what to do about it. */
export function unreadableText(unreadable: RunUnreadable): string {
  switch (unreadable) {
    case "other_key":
      return "Its texts and values cannot be read here: they are sealed under another key file (journal.keyFile) than this process has; callgate doctor says what to do.";
    case "erased":
      return "Its texts and values were erased.";
  }
}
