import type { SqlSession } from "./session.ts";
import { SqlFault } from "./sql-fault.ts";

/** How long a server that was asked to stop may take to say that it did. */
const stopMs = 2_000;

/**
 * Runs statements of one session under a deadline and a signal. When either comes the server is told to stop; one that does
 * not answer loses its connection.
 *
 * Errors: those of `work`; `SqlFault` timeout or cancelled when it was stopped.
 */
export async function boundedWork<Result>(session: SqlSession, { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number }, work: () => Promise<Result>): Promise<Result> {
  let stopped: "timeout" | "cancelled" | undefined;
  const stop = (why: "timeout" | "cancelled"): void => {
    if (stopped !== undefined) return;
    stopped = why;
    giveUp = setTimeout(() => session.destroy(), stopMs);
    session.cancel().catch(() => session.destroy());
  };
  let giveUp: NodeJS.Timeout | undefined;
  const onAbort = (): void => stop("cancelled");
  // The server's own limit comes first, where it has one.
  const deadline = setTimeout(() => stop("timeout"), timeoutMs + 250);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await work();
  } catch (error) {
    if (stopped === undefined || !(error instanceof SqlFault)) throw error;
    throw new SqlFault({ kind: stopped, message: stopped === "timeout" ? `it took longer than ${timeoutMs} ms` : "it was cancelled", inDoubt: error.inDoubt, cause: error });
  } finally {
    clearTimeout(deadline);
    clearTimeout(giveUp);
    // What was asked to stop it may arrive late, and must not meet the statement of another call.
    if (stopped !== undefined) session.destroy();
    signal.removeEventListener("abort", onAbort);
  }
}
