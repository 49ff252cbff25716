import type { Gate, SessionView } from "@callgate/contract";
import { createSessionHolder } from "./session-holder.ts";
import type { BlockApprover } from "./session-holder.ts";
import type { SessionRecord, SessionRecords } from "./session-records.ts";

export interface HoldOptions {
  readonly gate: Gate;
  readonly approver: BlockApprover;
  readonly records: SessionRecords;
  readonly record: SessionRecord;
  /** Aborts when this process is to end. */
  readonly signal: AbortSignal;
  readonly onReady: (view: SessionView) => void;
}

const lookEveryMs = 200;

/**
 * Opens a session and serves it until it ends: by a command, by idleness, by its age, or with this process. Its record
 * then says why; one whose process is killed has no such word.
 *
 * Errors: those of `gate.sessions.open`, and of the socket.
 */
export async function holdSession({ gate, approver, records, record, signal, onReady }: HoldOptions): Promise<void> {
  const { sessionId, language, socket, token, options } = record;
  const { sandbox: _sandbox, ...bounds } = options;
  const opened = gate.sessions.open({ sessionId, language, ...definedNumbers(bounds) });
  const holder = createSessionHolder({ gate, approver, sessionId, token });
  await holder.listen(socket);
  records.write(record);
  onReady(opened);
  await ended(gate, sessionId, signal);
  const { loss, blocks = 0, generation = 1 } = gate.sessions.show(sessionId) ?? {};
  const { reason, message } = loss !== undefined && loss.reason !== "restarted" ? loss : { reason: "host", message: "The process that held the session was ended" };
  // Of one that was closed nothing is left to tell.
  if (reason === "closed") records.remove(sessionId);
  else records.write({ ...record, end: { atMs: Date.now(), reason, message, blocks, generation } });
  await holder.close();
}

async function ended(gate: Gate, sessionId: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && gate.sessions.show(sessionId)?.phase !== "ended") await new Promise((wake) => setTimeout(wake, lookEveryMs));
}

function definedNumbers(bounds: Readonly<Record<string, number | undefined>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(bounds).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
