import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chownSync, closeSync, existsSync, openSync } from "node:fs";
import { release } from "node:os";
import { dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { CallgateError } from "@callgate/contract";
import type { LaunchedGuest, Launcher, LauncherProbe, LaunchSpec } from "../launcher.ts";
import { isAlive } from "../left-folders.ts";
import { keeperOf, keeperScript } from "../keeper.ts";
import { whenStarted } from "../started-process.ts";
import { watchGuest } from "./bubblewrap-guest.ts";
import { findControlGroups, removeStaleGroups } from "./control-group.ts";
import type { ControlGroup, ControlGroups } from "./control-group.ts";
import { accountFiles, descriptors, endKept, firstStage, guestStage, inside, limitArguments, nobody, sandboxArguments, stageArguments } from "./sandbox-arguments.ts";
import { seccompFilter } from "./seccomp-filter.ts";
import { createUnnamedFile } from "./unnamed-file.ts";
import type { UnnamedFile } from "./unnamed-file.ts";

/** Programs of the host that build the walls. All are part of a plain Debian but bubblewrap itself. */
interface Tools {
  readonly bwrap: string;
  readonly unshare: string;
  readonly prlimit: string;
  /** Bash where there is one: other shells cannot close descriptors above 9. */
  readonly shell: string;
}

interface Files {
  readonly seccomp: UnnamedFile;
  readonly passwd: UnnamedFile;
  readonly group: UnnamedFile;
}

/** Shared by all guests of one launcher. */
interface Host {
  readonly tools: Tools;
  readonly files: Files;
  readonly groups: ControlGroups | undefined;
  /** Whom guests run as on the host, where we are root: root itself would leave /proc/sys writable inside. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** What was started and has not ended; of a guest that is gone, what kept it may go on for a moment. */
  readonly children: Set<ChildProcess>;
}

/** Room in a control group for what is not the program's data: the interpreter's code, its files, page tables. */
const groupSlackMiB = 64;
const groupPrefix = "callgate-";

/**
 * Starts guests under bubblewrap on Linux, as root or not.
 *
 * A guest has namespaces of its own (user, mount, pid, net, ipc, uts, cgroup), no capability, no way to new privileges,
 * a seccomp filter, a root file system that is read-only but for one tmpfs with a bound on bytes and on files, no
 * network but a loopback of its own, and no environment but what it is given. Limits per process are set inside; the sum
 * is bounded by a control group (v1 or v2) where this user may make one.
 */
export function createBubblewrapLauncher(): Launcher {
  const startedAs = guestUser();
  let host: Host | undefined;
  let probing: Promise<LauncherProbe> | undefined;
  const hostOf = (): Host => (host ??= openHost());
  const launch = (spec: LaunchSpec): LaunchedGuest => launchGuest(hostOf(), spec);
  return {
    name: "bubblewrap",
    ...(startedAs === undefined ? {} : { guestUser: startedAs }),
    probe() {
      probing ??= probe(hostOf, launch);
      return probing;
    },
    launch,
    async close() {
      await Promise.all([...(host?.children ?? [])].map((child) => once(child, "exit")));
    },
  };
}

function openHost(): Host {
  const tools = findTools();
  if (typeof tools === "string") throw new CallgateError("DRIVER_FAILED", `The sandbox bubblewrap cannot start: ${tools} is missing`);
  const architecture = process.arch;
  if (architecture !== "x64" && architecture !== "arm64") throw new CallgateError("DRIVER_FAILED", `The sandbox bubblewrap has no seccomp filter for ${architecture}`);
  removeStaleGroups(groupPrefix, isAlive);
  return {
    tools,
    files: { seccomp: createUnnamedFile(seccompFilter(architecture)), passwd: createUnnamedFile(accountFiles.passwd), group: createUnnamedFile(accountFiles.group) },
    groups: findControlGroups(),
    user: guestUser(),
    children: new Set(),
  };
}

function guestUser(): Host["user"] {
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : undefined;
}

/** The tools, or the name of the first that is missing. */
function findTools(): Tools | string {
  const find = (name: string): string | undefined => ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"].map((folder) => join(folder, name)).find((file) => existsSync(file));
  const [bwrap, unshare, prlimit] = [find("bwrap"), find("unshare"), find("prlimit")];
  if (bwrap === undefined) return "bwrap";
  if (unshare === undefined) return "unshare";
  return prlimit === undefined ? "prlimit" : { bwrap, unshare, prlimit, shell: find("bash") ?? "/bin/sh" };
}

async function probe(hostOf: () => Host, launch: (spec: LaunchSpec) => LaunchedGuest): Promise<LauncherProbe> {
  if (process.platform !== "linux") return { kind: "unavailable", reason: `bubblewrap is for Linux; this is ${process.platform}`, fix: "use a container, or run Callgate on Linux" };
  const missingTool = findTools();
  if (typeof missingTool === "string") return { kind: "unavailable", reason: `the program ${missingTool} is not installed`, fix: missingTool === "bwrap" ? "install it: apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), apk add bubblewrap (Alpine)" : "install it: apt install util-linux" };
  try {
    const bounds = { memoryMiB: 64, processes: 16, workspaceMiB: 8, workspaceFiles: 256, openFiles: 32 };
    const guest = launch({ command: ["/bin/sh", "-c", "grep -q '^Seccomp:.*2$' /proc/self/status && grep -q '^CapEff:.*0000000000000000$' /proc/self/status && for fd in /proc/$$/fd/[1-9][0-9]*; do test ! -e $fd || exit 9; done && echo ready"], environment: {}, bounds, mounts: [] });
    const [out, said, { diagnosis }] = await Promise.all([text(guest.stdout), text(guest.stderr), guest.exited]);
    const problem = diagnosis ?? said;
    if (out.trim() !== "ready") return { kind: "unavailable", reason: `a guest could not be started: ${withoutPaths(problem.trim()).slice(0, 400) || "it said nothing"}`, fix: fixFor(problem) };
  } catch (fault) {
    // In a user namespace that maps no one else, root is root by name only.
    const code = fault instanceof Error && "code" in fault ? fault.code : undefined;
    if (code === "EINVAL" || code === "EPERM") return { kind: "unavailable", reason: `this root may not become the user that programs run as (uid ${nobody})`, fix: "run Callgate as an ordinary user, or where uids up to 65534 are mapped" };
    return { kind: "unavailable", reason: fault instanceof Error ? fault.message : String(fault), fix: "see the reason" };
  }
  const { groups } = hostOf();
  return { kind: "ready", missing: groups === undefined ? ["the sum of a guest's memory is watched, not bounded by the kernel: this user may not make control groups (run as root, or delegate a cgroup, e.g. systemd-run --user -p Delegate=yes)"] : [] };
}

/** A run that cannot start tells its author and a model why: not where things are on this host. */
function withoutPaths(said: string): string {
  return said.replaceAll(/(?<=^|[\s'"(=])\/[^\s'")]+/gm, "(a path)");
}

function fixFor(problem: string): string {
  if (/namespace|uid_map|permitted|unshare/i.test(problem)) return "allow user namespaces: sysctl -w user.max_user_namespaces=10000, kernel.unprivileged_userns_clone=1 where it exists, and on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0";
  return "run callgate sandbox doctor for the wall that fails";
}

function launchGuest(host: Host, spec: LaunchSpec): LaunchedGuest {
  const { tools, files, user } = host;
  if (spec.door !== undefined && user !== undefined) chownSync(dirname(spec.door), user.uid, user.gid);
  const command = spec.command.map((part) => part.replaceAll("{guest}", inside.guestFile).replaceAll("{program}", inside.program));
  const argv = ["-c", keeperScript({ whenGone: endKept, atEnd: ":" }), "sh", tools.unshare, "--user", "--map-root-user", "--mount", "--", tools.shell, "-c", firstStage, "sh", ...stageArguments(spec, release()), tools.bwrap, "--args", `${descriptors.arguments}`, "--", ...guestStage, ...limitArguments(spec.bounds, tools.prlimit), ...command];
  const guestFile = spec.guestFile === undefined ? undefined : openSync(fileURLToPath(spec.guestFile), "r");
  const opened = [files.seccomp.open(), files.passwd.open(), files.group.open()];
  // No pipe: bubblewrap would die of writing to it when we are gone, before what it has made can go on.
  const info = createUnnamedFile("");
  try {
    const child = spawn("/bin/sh", argv, { cwd: "/", env: {}, detached: true, stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe", ...opened, "pipe", guestFile ?? "ignore", info.descriptor, "pipe"], ...user });
    whenStarted(child, "/bin/sh");
    const group = createGroup(host, spec);
    const keeper = keeperOf(child);
    const guest = watchGuest(child, { group, spec, keeper, info });
    host.children.add(child);
    child.once("exit", () => host.children.delete(child));
    const args = (child.stdio as readonly unknown[])[descriptors.arguments] as Writable;
    args.on("error", () => undefined);
    args.end(sandboxArguments(spec).join("\0"));
    // Nothing begins before, so everything is in the group. One that is not there any more tells why by its end; any other
    // that could not be bounded must not begin.
    joined(group, child).then(() => keeper.begin(), () => guest.kill());
    return guest;
  } catch (fault) {
    info.close();
    throw fault;
  } finally {
    for (const descriptor of [...opened, ...(guestFile === undefined ? [] : [guestFile])]) closeSync(descriptor);
  }
}

function createGroup(host: Host, { bounds }: LaunchSpec): ControlGroup | undefined {
  // Names of no two launchers of a process may be the same: what ended of one would take the group of the other away.
  return host.groups?.create(`${groupPrefix}${process.pid}-${randomUUID()}`, { memoryMiB: bounds.memoryMiB + bounds.workspaceMiB + groupSlackMiB, processes: bounds.processes + 10 });
}

async function joined(group: ControlGroup | undefined, { pid }: ChildProcess): Promise<void> {
  if (pid !== undefined) await group?.add(pid);
}
