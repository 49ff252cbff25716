import { text } from "node:stream/consumers";
import type { LaunchedGuest, LaunchSpec } from "../launcher.ts";

/** What a guest found about its own walls. */
export interface TriedGuest {
  /** What of the minimum does not stand, or why it could not be started; undefined when all is well. */
  readonly problem: string | undefined;
  /** True when nothing came over the channel, so that another one may do. */
  readonly isSilent: boolean;
}

const bounds = { memoryMiB: 64, processes: 16, workspaceMiB: 8, workspaceFiles: 256, openFiles: 32 };
/** A machine under load was seen to take ten seconds to start a container. */
const patienceMs = 30_000;

const script = [
  'read -r line <&3 && echo "$line" >&4',
  'echo "uid=$(id -u)"',
  "grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status",
  "for f in /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max; do [ -r $f ] && echo \"pids=$(cat $f)\"; done",
  'echo "net=$(tail -n +3 /proc/net/dev | grep -vc " lo:")"',
  "(: >/callgate-test) 2>/dev/null && echo root=open",
  "(: >$HOME/test) 2>/dev/null || echo home=closed",
  "echo done",
].join("; ");

/** What there has to be. */
export interface ExpectedWalls {
  readonly hasSeccomp: boolean;
  readonly user: { readonly uid: number };
}

/** Starts a guest that looks at its own walls, and answers over the channel. */
export async function tryGuest(launch: (spec: LaunchSpec) => LaunchedGuest, expected: ExpectedWalls): Promise<TriedGuest> {
  const guest = launch({ command: ["/bin/sh", "-c", script], environment: {}, bounds, mounts: [] });
  const patience = setTimeout(() => guest.kill(), patienceMs);
  guest.commands.end("ping\n");
  const [out, problem, frames, exit] = await Promise.all([text(guest.stdout), text(guest.stderr), text(guest.frames), guest.exited]);
  clearTimeout(patience);
  if (exit.failure !== undefined) return { problem: exit.failure, isSilent: true };
  if (frames.trim() !== "ping") return { problem: `a guest could not be started: ${problem.trim().slice(0, 400) || "it said nothing"}`, isSilent: true };
  return { problem: openWall(out, expected), isSilent: false };
}

function openWall(said: string, { hasSeccomp, user }: ExpectedWalls): string | undefined {
  const has = (pattern: RegExp): boolean => pattern.test(said);
  const pids = /^pids=(.*)$/m.exec(said)?.[1];
  if (!has(/^done$/m)) return "a guest ended before it had looked at its walls";
  if (/^uid=(.*)$/m.exec(said)?.[1] !== `${user.uid}`) return `a guest does not run as uid ${user.uid}`;
  if (!has(/^CapEff:\s*0+$/m)) return "a guest has capabilities";
  if (!has(/^NoNewPrivs:\s*1$/m)) return "a guest can come to new privileges";
  if (hasSeccomp && !has(/^Seccomp:\s*2$/m)) return "a guest's system calls are not filtered";
  if (!has(/^net=0$/m)) return "a guest has a network";
  if (has(/^root=open$/m)) return "a guest can write the root of its image";
  if (has(/^home=closed$/m)) return "a guest cannot write its workspace";
  if (pids !== undefined && !(Number(pids) < 64)) return `the number of a guest's processes is not bounded (pids.max is ${pids})`;
  return undefined;
}
