import { join } from "node:path";
import { CallgateError } from "@callgate/contract";
import { z } from "zod";
import { createPrivateRecords, isRecordName } from "../private-records.ts";
import type { PrivateRecords } from "../private-records.ts";

const recordShape = z.object({
  sessionId: z.string(),
  language: z.string(),
  /** Socket of the process that holds it. */
  socket: z.string(),
  /** Shown with each request. */
  token: z.string(),
  pid: z.number(),
  /** Where it was opened: its configuration and tools are those of this folder. */
  folder: z.string(),
  openedAtMs: z.number(),
  options: z.object({ memoryMiB: z.number().optional(), idleMs: z.number().optional(), totalMs: z.number().optional(), sandbox: z.string().optional() }),
  /** Said when it ended; absent while it lives, and when its process was killed. */
  end: z.object({ atMs: z.number(), reason: z.string(), message: z.string(), blocks: z.number(), generation: z.number() }).optional(),
});

/** What is known of a session outside of the process that holds it. */
export type SessionRecord = z.infer<typeof recordShape>;

/** Sessions of one user on this machine, one file each that only this user reads. */
export interface SessionRecords extends Omit<PrivateRecords<SessionRecord>, "write"> {
  /** Newest first. A file that is none of ours is left out. */
  list(): readonly SessionRecord[];
  write(record: SessionRecord): void;
}

/** @param stateFolder the user's own */
export function createSessionRecords(stateFolder: string): SessionRecords {
  const records = createPrivateRecords<SessionRecord>({ folder: join(stateFolder, "sessions"), pipePrefix: "callgate-session", parse: (value) => recordShape.safeParse(value).data });
  return {
    ...records,
    read(sessionId) {
      if (!isRecordName(sessionId)) throw new CallgateError("USAGE", `A session's name is of letters, digits, - and _, at most 64, not ${JSON.stringify(sessionId)}`);
      return records.read(sessionId);
    },
    list: () => records.list().toSorted((one, other) => other.openedAtMs - one.openedAtMs),
    write: (record) => records.write(record.sessionId, record),
  };
}
