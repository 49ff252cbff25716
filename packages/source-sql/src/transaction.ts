import { SqlFault } from "./sql-fault.ts";

/** The statements around a transaction, each in its database's words. */
export interface TransactionParts {
  readonly begin: () => Promise<unknown>;
  readonly commit: () => Promise<unknown>;
  /** Rolls back what was not committed, and leaves the connection as it was. Never throws. */
  readonly end: () => Promise<unknown>;
}

/** All of `work` or nothing. A connection that is lost while the commit is under way leaves a doubt, and the fault says so. */
export async function inTransaction<Result>({ begin, commit, end }: TransactionParts, work: () => Promise<Result>): Promise<Result> {
  let isCommitting = false;
  try {
    await begin();
    const result = await work();
    isCommitting = true;
    await commit();
    return result;
  } catch (error) {
    if (!isCommitting || !(error instanceof SqlFault) || error.kind !== "lost") throw error;
    throw new SqlFault({ kind: "lost", message: error.message, code: error.code, inDoubt: true, cause: error });
  } finally {
    await end();
  }
}
