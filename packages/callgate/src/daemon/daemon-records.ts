import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { createPrivateRecords } from "../private-records.ts";
import type { PrivateRecords } from "../private-records.ts";
import { version } from "../version.ts";

const recordShape = z.object({
  daemonId: z.string(),
  socket: z.string(),
  /** Shown with each connection. */
  token: z.string(),
  pid: z.number(),
  /** Of its configuration. Absent: there is none, and it serves the folder. */
  configFile: z.string().optional(),
  folder: z.string(),
  startedAtMs: z.number(),
  /** It ends when it has had no client for so long. */
  idleMs: z.number(),
});

/** A process that several MCP clients of one user share. */
export type DaemonRecord = z.infer<typeof recordShape>;

export function createDaemonRecords(stateFolder: string): PrivateRecords<DaemonRecord> {
  return createPrivateRecords({ folder: join(stateFolder, "daemons"), pipePrefix: "callgate-daemon", parse: (value) => recordShape.safeParse(value).data });
}

/**
 * Which process serves a configuration: another one after its file has changed or Callgate was updated, so that no client is
 * served by what was written before. The older one ends once its clients are gone.
 */
export function daemonIdOf({ configFile, folder }: { readonly configFile: string | undefined; readonly folder: string }): string {
  const hash = createHash("sha256").update(version).update("\0").update(configFile ?? folder).update("\0");
  if (configFile !== undefined) hash.update(readFileSync(configFile));
  return hash.digest("hex").slice(0, 16);
}
