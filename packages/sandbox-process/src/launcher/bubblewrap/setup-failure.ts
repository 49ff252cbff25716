import type { LaunchSpec } from "../launcher.ts";
import { overlayFailed } from "./sandbox-arguments.ts";

/** Why a guest's walls could not be built, from what the host's tools said: without what they said, which names paths of the host. */
export function setupFailure(said: string, { mounts, program, bounds }: Pick<LaunchSpec, "mounts" | "program" | "bounds">): string {
  const index = new RegExp(`^${overlayFailed} (\\d+)$`, "m").exec(said)?.[1];
  const overlay = index === undefined ? undefined : mounts.filter(({ mode }) => mode === "overlay")[Number(index)];
  if (overlay !== undefined) return `the overlay ${overlay.guest} had to be copied, and could not: it is larger than sandbox.workspaceMiB (${bounds.workspaceMiB}) or than ${bounds.workspaceFiles} files, or holds some that the user programs run as cannot read`;
  const named = mounts.filter(({ host }) => said.includes(host)).toSorted((a, b) => b.host.length - a.host.length)[0];
  if (named !== undefined) return `the mount ${named.guest} could not be made: the user programs run as cannot reach what it shows, or it is gone`;
  if (program !== undefined && said.includes(program.file)) return `the interpreter ${program.name} cannot be reached by the user programs run as`;
  return "the walls of the sandbox could not be built. To do: callgate sandbox doctor, on this host";
}
