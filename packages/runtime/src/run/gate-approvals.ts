import { CallgateError } from "@callgate/contract";
import type { ApprovalQuestion, Gate, Journal, PendingApproval, Principal, RunRecord } from "@callgate/contract";
import { readRecordedCalls } from "./recorded-calls.ts";

export interface GateApprovalsOptions {
  readonly journal: Journal;
  readonly now: () => number;
  readonly principal: Principal;
  /** Something was said to a run. */
  readonly heard: (tenant: string, runId: string) => void;
}

/** Runs that are read at once, and ended ones that are looked through for a question that was answered. */
const maxRuns = 1_000;
/** Ended runs that are looked through: undoing what they did may ask. */
const maxEnded = 200;

/** Questions that nobody has answered, and their answers. An answer is on disk before anyone is told of it. */
export function createGateApprovals({ journal, now, principal, heard }: GateApprovalsOptions): Gate["approvals"] {
  async function openOf(run: RunRecord): Promise<readonly PendingApproval[]> {
    const { tenant } = run.principal;
    const [entries, signals] = await Promise.all([journal.readEntries(tenant, run.runId), journal.readSignals(tenant, run.runId)]);
    const askedAt = new Map(entries.flatMap((entry) => (entry.kind === "approval-asked" ? [[entry.question.approvalId, entry.atMs] as const] : [])));
    return [...readRecordedCalls(entries, signals).values()].flatMap(({ issued, past, ended }) => {
      const { question, said } = past;
      // Of a run that has ended only its undoing goes on.
      if (run.endedAtMs !== undefined && issued?.compensates === undefined) return [];
      if (question === undefined || said !== undefined || ended !== undefined || question.expiresAtMs <= now()) return [];
      return [{ question, askedAtMs: askedAt.get(question.approvalId) ?? run.startedAtMs }];
    });
  }

  async function listFor({ tenant }: Principal): Promise<readonly PendingApproval[]> {
    const runs = await Promise.all((["suspended", "running"] as const).map((status) => openRuns(journal, { tenant, status })));
    const ended = (await journal.listRuns({ tenant, limit: maxEnded })).filter(({ endedAtMs }) => endedAtMs !== undefined);
    const open = await Promise.all([...runs.flat(), ...ended].map(openOf));
    return open.flat().sort((a, b) => a.askedAtMs - b.askedAtMs);
  }

  /** The run of a question is not in its id, so the open ones are looked through; an answered one is found by its run's record. */
  async function questionFor({ tenant }: Principal, approvalId: string): Promise<ApprovalQuestion | undefined> {
    for (const status of ["suspended", "running", undefined] as const) {
      for (const run of await (status === undefined ? journal.listRuns({ tenant, limit: maxRuns }) : openRuns(journal, { tenant, status }))) {
        const waits = run.waits.find((wait) => wait.kind === "approval" && wait.question.approvalId === approvalId);
        if (waits?.kind === "approval") return waits.question;
        if (status === "suspended") continue;
        const asked = (await journal.readEntries(tenant, run.runId)).find((entry) => entry.kind === "approval-asked" && entry.question.approvalId === approvalId);
        if (asked?.kind === "approval-asked") return asked.question;
      }
    }
    return undefined;
  }

  return {
    list: async (options = {}) => await listFor(options.principal ?? principal),
    async answer(approvalId, { approved, by, reason }, options = {}) {
      const asker = options.principal ?? principal;
      const question = await questionFor(asker, approvalId);
      if (question === undefined) throw refused(`There is no question ${approvalId}; callgate approvals ls lists those that are open`, approvalId);
      const { runId, expiresAtMs } = question;
      const signals = await journal.readSignals(asker.tenant, runId);
      const before = signals.find((signal) => signal.kind === "approval" && signal.approvalId === approvalId);
      if (before === undefined && expiresAtMs <= now()) throw refused(`Nobody answered question ${approvalId} in time, so the call is denied`, approvalId);
      const receipt = await journal.signal(asker.tenant, runId, { kind: "approval", approvalId, approved, by, atMs: now(), ...(reason === undefined ? {} : { reason }) });
      heard(asker.tenant, runId);
      return { known: receipt.kind === "known", approved: receipt.signal.kind === "approval" ? receipt.signal.approved : approved };
    },
  };
}

/** All of them, however many: the oldest question is asked as much as the newest. */
async function openRuns(journal: Pick<Journal, "listRuns">, filter: { readonly tenant: string; readonly status: "suspended" | "running" }): Promise<readonly RunRecord[]> {
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

function refused(message: string, approvalId: string): CallgateError {
  return new CallgateError("SIGNAL_REFUSED", message, { details: { approvalId } });
}
