import { readdirSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { labels } from "./container-request.ts";
import type { EngineClient } from "./engine-client.ts";
import { isOrphan } from "./local-container.ts";

/** Folders of pipes are named for the process that made them. */
export const channelFolderPrefix = "callgate-channel-";

interface Labelled {
  readonly Labels?: Readonly<Record<string, string>> | null;
}

/**
 * Removes what a process of ours left when it was killed: containers, volumes and folders whose owner is gone.
 *
 * Owners are told by a label: machine, boot, pid and time of birth. What belongs to another machine is left alone.
 */
export async function removeOrphans(client: EngineClient): Promise<void> {
  const query = { filters: JSON.stringify({ label: [labels.mark] }) };
  const containers = (await client.call("GET", "/containers/json", { query: { ...query, all: "1" } })) as readonly (Labelled & { readonly Id: string })[];
  const quietly = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined);
  await Promise.all(containers.filter(isLeft).map(({ Id: id }) => quietly(client.call("DELETE", `/containers/${id}`, { query: { force: "1", v: "1" } }))));
  const { Volumes: volumes } = (await client.call("GET", "/volumes", { query })) as { readonly Volumes?: readonly (Labelled & { readonly Name: string })[] | null };
  await Promise.all((volumes ?? []).filter(isLeft).map(({ Name: name }) => quietly(client.call("DELETE", `/volumes/${name}`, { query: { force: "1" } }))));
  removeFolders();
}

function isLeft({ Labels: own }: Labelled): boolean {
  const mark = own?.[labels.owner];
  return mark !== undefined && isOrphan(mark, hostname());
}

function removeFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(channelFolderPrefix) ? Number(name.slice(channelFolderPrefix.length).split("-")[0]) : Number.NaN;
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {} // Another user's.
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code === "EPERM";
  }
}
