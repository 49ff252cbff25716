import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CallgateError } from "@callgate/contract";
import type { GuestExit, LaunchedGuest, Launcher } from "../launcher.ts";
import { removeLeftFolders } from "../left-folders.ts";
import { processTree, useOf } from "../process-tree.ts";
import { inside } from "../bubblewrap/sandbox-arguments.ts";
import { keeperOf, keeperScript } from "../keeper.ts";
import type { KeeperSteps } from "../keeper.ts";
import { exitOf, streamsOf, whenStarted } from "../started-process.ts";

/** Folders are named for the process that made them. */
const folderPrefix = "callgate-local-";

/** Marks the processes of one guest, so that those that left its group are found too. */
const markName = "CALLGATE_GUEST";

/**
 * Starts guests as ordinary processes of this user: **no wall at all**. A program can read and change whatever the user
 * can. For programs that a person wrote or read; it has to be asked for by its name and is never a fallback.
 *
 * What holds: an environment of its own, a folder of its own, and that all its processes are ended with it, or with this
 * process when that is killed (on Linux also those that left the process group, found by a mark in their environment).
 */
export function createUnsafeLocalLauncher(): Launcher {
  let isTidy = false;
  return {
    name: "local-unsafe",
    probe: () => Promise.resolve(process.platform === "win32" ? { kind: "unavailable", reason: "Windows has no process groups", fix: "use a container" } : { kind: "ready", missing: ["network: open", "files: all of this user's", "processes: unbounded", "memory: unbounded", "privileges: this user's"] }),
    launch({ command, guestFile, program: hostProgram, environment, mounts, door }) {
      if (door !== undefined) throw new CallgateError("CONFIG_INVALID", "The launcher local-unsafe cannot hold sandbox.network: its programs reach all this user reaches. Remove sandbox.network, or use bubblewrap");
      // The working folder needs no mount: the program is started in it.
      const workingFolder = mounts.find(({ guest, mode }) => guest === inside.workspace && mode === "rw")?.host;
      if (mounts.length > (workingFolder === undefined ? 0 : 1)) throw new CallgateError("CONFIG_INVALID", "The launcher local-unsafe cannot mount: its programs see all files of this user as they are. Remove sandbox.mounts, or use bubblewrap");
      if (!isTidy) removeLeftFolders(folderPrefix);
      isTidy = true;
      const folder = mkdtempSync(join(tmpdir(), `${folderPrefix}${process.pid}-`));
      const mark = randomUUID();
      const [program = "", ...args] = command.map((part) => part.replaceAll("{guest}", guestFile === undefined ? "" : fileURLToPath(guestFile)).replaceAll("{program}", hostProgram?.file ?? ""));
      const child = spawn("/bin/sh", ["-c", keeperScript(endMarked(mark, folder)), "sh", program, ...args], {
        cwd: workingFolder ?? folder,
        detached: true,
        env: { HOME: folder, TMPDIR: folder, PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C.UTF-8", TZ: "UTC", ...environment, [markName]: mark },
        stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe"],
      });
      whenStarted(child, "/bin/sh");
      keeperOf(child).begin();
      return watch(child, { folder, mark });
    },
  };
}

/** What ends a program whose host is gone, with what left its group and bears its mark, and removes its folder. */
function endMarked(mark: string, folder: string): KeeperSteps {
  const others = `for file in $(grep -ls ${markName}=${mark} /proc/[0-9]*/environ); do pid="\${file#/proc/}"; pid="\${pid%/environ}"; case $pid in $me|$watch) ;; *) kill -KILL $pid ;; esac; done`;
  return { whenGone: `${others}; kill -KILL $program`, atEnd: `if [ -n "$gone" ]; then ${others}; rm -rf '${folder.replaceAll("'", `'\\''`)}'; fi` };
}

function watch(child: ChildProcess, { folder, mark }: { readonly folder: string; readonly mark: string }): LaunchedGuest {
  const { promise: exited, resolve } = Promise.withResolvers<GuestExit>();
  const kill = (): void => {
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    for (const pid of markedProcesses(mark)) signalOne(pid, "SIGKILL");
  };
  const finish = async (exit: GuestExit): Promise<void> => {
    kill();
    // A process may have started another one while it was being ended.
    for (let round = 0; round < 50 && markedProcesses(mark).length > 0; round++) {
      await new Promise((wake) => setTimeout(wake, 5));
      kill();
    }
    rmSync(folder, { recursive: true, force: true });
    resolve(exit);
  };
  child.once("error", () => void finish({ code: 127, signal: undefined, outOfMemory: false }).catch(() => undefined));
  child.once("exit", (code, signal) => void finish({ ...exitOf(code, signal), outOfMemory: false }).catch(() => undefined));
  return {
    ...streamsOf(child),
    exited,
    use: () => (child.pid === undefined || child.exitCode !== null ? undefined : useOf(processTree(child.pid))),
    interrupt() {
      if (child.pid !== undefined && child.exitCode === null) for (const pid of processTree(child.pid)) signalOne(pid, "SIGINT");
    },
    kill,
  };
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  signalOne(-pid, signal);
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {} // It is gone.
}

function markedProcesses(mark: string): number[] {
  if (process.platform !== "linux") return [];
  const needle = `${markName}=${mark}`;
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return readFileSync(`/proc/${name}/environ`, "latin1").includes(needle) ? [Number(name)] : [];
    } catch {
      return []; // Not ours, or gone.
    }
  });
}
