import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CallgateError } from "@callgate/contract";
import { makePrivateFolder } from "@callgate/runtime/journal";
import { z } from "zod";

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
export interface SessionRecords {
  /** Newest first. A file that is none of ours is left out. */
  list(): readonly SessionRecord[];
  read(sessionId: string): SessionRecord | undefined;
  write(record: SessionRecord): void;
  remove(sessionId: string): void;
  /** A place for its socket; no longer than systems allow. */
  socketFor(sessionId: string): string;
  logFor(sessionId: string): string;
}

const nameShape = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
/** Of what a socket's path may have, on the systems there are: 104 to 108. */
const maxSocketChars = 100;

/** @param stateFolder the user's own */
export function createSessionRecords(stateFolder: string): SessionRecords {
  const folder = join(stateFolder, "sessions");
  const fileOf = (sessionId: string, ending: string): string => join(folder, `${sessionId}.${ending}`);
  const prepare = (): void => {
    makePrivateFolder(folder);
    chmodSync(folder, 0o700);
  };

  function read(sessionId: string): SessionRecord | undefined {
    if (!nameShape.test(sessionId)) throw new CallgateError("USAGE", `A session's name is of letters, digits, - and _, at most 64, not ${JSON.stringify(sessionId)}`);
    try {
      const parsed = recordShape.safeParse(JSON.parse(readFileSync(fileOf(sessionId, "json"), "utf8")));
      return parsed.success ? parsed.data : undefined;
    } catch {
      return undefined; // It is not there, or was left half by a machine that went down.
    }
  }

  return {
    read,
    list() {
      let names: readonly string[] = [];
      try {
        names = readdirSync(folder);
      } catch {} // Nobody has opened one.
      const ids = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length)).filter((name) => nameShape.test(name));
      return ids.flatMap((sessionId) => read(sessionId) ?? []).sort((a, b) => b.openedAtMs - a.openedAtMs);
    },
    write(record) {
      prepare();
      const file = fileOf(record.sessionId, "json");
      writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
    remove(sessionId) {
      for (const ending of ["json", "sock", "log"]) rmSync(fileOf(sessionId, ending), { force: true });
    },
    socketFor(sessionId) {
      if (process.platform === "win32") return `\\\\.\\pipe\\callgate-session-${sessionId}`;
      prepare();
      const path = fileOf(sessionId, "sock");
      return path.length <= maxSocketChars ? path : join(mkdtempSync(join(tmpdir(), "callgate-")), "s");
    },
    logFor(sessionId) {
      prepare();
      return fileOf(sessionId, "log");
    },
  };
}
