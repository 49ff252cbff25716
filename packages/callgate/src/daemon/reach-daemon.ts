import { randomBytes } from "node:crypto";
import { withFileLock } from "../file-lock.ts";
import type { PrivateRecords } from "../private-records.ts";
import { startHolder } from "../session/start-holder.ts";
import { connectDaemon } from "./daemon-client.ts";
import type { DaemonConnection } from "./daemon-client.ts";
import type { Hello } from "./daemon-messages.ts";
import type { DaemonRecord } from "./daemon-records.ts";

export interface ReachOptions {
  readonly records: PrivateRecords<DaemonRecord>;
  readonly daemonId: string;
  readonly configFile: string | undefined;
  readonly folder: string;
  /** Words of a command line before `daemon serve`. */
  readonly globalArguments: readonly string[];
  readonly idleMs: number;
}

type Message = Omit<Extract<Hello, { kind: "serve" }>, "token"> | Omit<Extract<Hello, { kind: "status" }>, "token">;

/**
 * Connects to the process that serves a configuration, and starts it where there is none: one, however many come at once.
 *
 * Errors: `CallgateError`, what that process says of its start or of who connects.
 */
export async function reachDaemon(options: ReachOptions, message: Message): Promise<DaemonConnection> {
  const { records, daemonId } = options;
  const known = await connected(options, message);
  if (known !== undefined) return known;
  return await withFileLock(`${records.logFor(daemonId)}.lock`, async () => {
    const meanwhile = await connected(options, message);
    if (meanwhile !== undefined) return meanwhile;
    await start(options);
    const connection = await connected(options, message);
    if (connection === undefined) throw new Error("the process that was just started is gone");
    return connection;
  });
}

async function connected({ records, daemonId }: ReachOptions, message: Message): Promise<DaemonConnection | undefined> {
  const record = records.read(daemonId);
  return record === undefined ? undefined : await connectDaemon(record, message);
}

async function start({ records, daemonId, configFile, folder, globalArguments, idleMs }: ReachOptions): Promise<void> {
  // Of one that was killed.
  records.remove(daemonId);
  records.write(daemonId, { daemonId, socket: records.socketFor(daemonId), token: randomBytes(32).toString("hex"), pid: 0, ...(configFile === undefined ? {} : { configFile }), folder, startedAtMs: Date.now(), idleMs });
  try {
    await startHolder<number>({ args: [...globalArguments, "daemon", "serve", daemonId], log: records.logFor(daemonId), folder });
  } catch (fault) {
    records.remove(daemonId);
    throw fault;
  }
}
