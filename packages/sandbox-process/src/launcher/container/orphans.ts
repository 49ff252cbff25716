import { hostname } from "node:os";
import { removeLeftFolders } from "../left-folders.ts";
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
  removeLeftFolders(channelFolderPrefix);
}

function isLeft({ Labels: own }: Labelled): boolean {
  const mark = own?.[labels.owner];
  return mark !== undefined && isOrphan(mark, hostname());
}
