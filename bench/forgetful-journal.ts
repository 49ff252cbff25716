import type { Journal } from "@callgate/contract";
import { memoryGrants, withoutAudit } from "@callgate/testkit";

const nothing = async (): Promise<undefined> => undefined;
const empty = async (): Promise<readonly never[]> => [];

/** A journal that forgets. Not a way to run Callgate: nothing could be explained, resumed or replayed. */
export const forgetfulJournal: Journal = {
  begin: async ({ runId }) => ({ runId, epoch: 1 }),
  append: nothing,
  finish: nothing,
  letGo: () => undefined,
  watch: () => () => undefined,
  renew: nothing,
  suspend: nothing,
  claim: nothing,
  claimEnded: async () => ({ kind: "open" }),
  release: nothing,
  signal: async (_tenant, _runId, signal) => ({ kind: "kept", signal }),
  readSignals: empty,
  reserveEffect: async () => ({ kind: "reserved" }),
  settleEffect: async () => undefined,
  reserveBudgets: async () => ({ kind: "reserved" }),
  settleBudgets: nothing,
  readBudgets: empty,
  addTaint: nothing,
  readTaint: empty,
  readRun: nothing,
  readEntries: empty,
  readResult: nothing,
  listRuns: empty,
  erase: nothing,
  prune: async () => ({ runs: 0, bytes: 0, heldRuns: 0 }),
  audit: withoutAudit,
  grants: memoryGrants({ now: () => 0 }),
  close: nothing,
};
