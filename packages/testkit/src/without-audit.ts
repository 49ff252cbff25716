import type { JournalAudit } from "@callgate/contract";

const refuse = (): Promise<never> => Promise.reject(new Error("this journal is a stand-in: it is not chained"));

/** For journals that stand in for one. */
export const withoutAudit: JournalAudit = { verify: refuse, ledger: refuse, hold: refuse, release: refuse, holds: refuse };
