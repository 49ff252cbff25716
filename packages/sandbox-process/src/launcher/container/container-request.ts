import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { doorPath } from "../launcher.ts";
import type { LaunchBounds, LaunchSpec, Mount } from "../launcher.ts";
import type { ContainerOptions } from "./container-options.ts";

/** Which of the two engines answers: they differ in what tmpfs options they take. */
export type EngineKind = "docker" | "podman";

export const labels = { mark: "callgate.sandbox", owner: "callgate.owner" } as const;

/** Whom programs run as. */
export interface ContainerUser {
  readonly uid: number;
  readonly gid: number;
}

/** Docker gives a tmpfs to nobody else: the mode alone does not open it. */
function owned({ uid, gid }: ContainerUser): string {
  return `uid=${uid},gid=${gid},mode=0700`;
}
const mebibyte = 1024 * 1024;
/** Room beside the program's data: the interpreter's code, its files, page tables. */
const slackMiB = 64;
/** The first shell, and what carries frames where that goes through the engine. */
const extraProcesses = 6;

const inside = { workspace: "/workspace", channel: "/run/callgate", guestFile: "/run/callgate/guest", overlays: "/run/callgate-overlays" } as const;

/** Places a program can write, each with its part of the bound on bytes and files: the workspace shares its own with overlays. */
function writablePlaces(mounts: readonly Mount[]): readonly { readonly place: string; readonly part: number }[] {
  const large = [...(mounts.some(({ guest }) => guest === inside.workspace) ? [] : [inside.workspace]), ...overlaysOf(mounts).map(({ guest }) => guest)];
  return [...large.map((place) => ({ place, part: 3 / 4 / large.length })), { place: "/tmp", part: 1 / 8 }, { place: "/var/tmp", part: 1 / 16 }, { place: "/dev/shm", part: 1 / 16 }];
}

function overlaysOf(mounts: readonly Mount[]): readonly Mount[] {
  return mounts.filter(({ mode }) => mode === "overlay");
}

/** One tmpfs that is made as a volume, since this engine's own tmpfs mounts know no bound on files. */
export interface WritableVolume {
  readonly place: string;
  /** Options of the mount. */
  readonly options: string;
}

export interface RequestOptions {
  readonly kind: EngineKind;
  /** An image id: never a name that could come to stand for something else. */
  readonly image: string;
  readonly owner: string;
  readonly spec: LaunchSpec;
  readonly user: ContainerUser;
  readonly options: ContainerOptions;
  /** The folder of the channel on the host; undefined where frames go through the engine. */
  readonly channelFolder: string | undefined;
  /** Volumes made from `writableVolumes`, by name. */
  readonly volumes: readonly { readonly name: string; readonly place: string }[];
  /** A seccomp profile as the engine takes it: Docker its text, Podman a file of its machine. Undefined is the engine's own. */
  readonly seccomp: string | undefined;
  /** The most processes of a user the engine may allow; undefined leaves it as it is. */
  readonly maxUserProcesses: number | undefined;
}

/** The body that creates a container. What hardens comes after what an option may say, so that nothing of it is undone. */
export function containerRequest({ kind, image, owner, spec, user, options, channelFolder, volumes, seccomp, maxUserProcesses }: RequestOptions): object {
  const { bounds } = spec;
  const sumBytes = (bounds.memoryMiB + bounds.workspaceMiB + slackMiB) * mebibyte;
  return {
    Image: image,
    Labels: { [labels.mark]: "1", [labels.owner]: owner },
    Hostname: "sandbox",
    User: `${user.uid}:${user.gid}`,
    WorkingDir: inside.workspace,
    Entrypoint: ["/bin/sh", "-c", bootScript(channelFolder !== undefined)],
    Cmd: bootArguments(spec, channelFolder !== undefined),
    Env: [`PATH=${guestPath}`],
    Healthcheck: { Test: ["NONE"] },
    AttachStdout: channelFolder === undefined,
    AttachStderr: channelFolder === undefined,
    NetworkDisabled: true,
    HostConfig: {
      ...options.extra,
      ...(options.runtime === undefined ? {} : { Runtime: options.runtime }),
      ...(options.gpus === undefined ? {} : { DeviceRequests: [deviceRequest(options.gpus)] }),
      NetworkMode: "none",
      IpcMode: "private",
      ReadonlyRootfs: true,
      Privileged: false,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges", ...(seccomp === undefined ? [] : [`seccomp=${seccomp}`])],
      Memory: sumBytes,
      MemorySwap: sumBytes,
      PidsLimit: bounds.processes + extraProcesses,
      NanoCpus: Math.round((options.cpus ?? 1) * 1e9),
      Ulimits: ulimits(bounds, maxUserProcesses),
      // What a program prints goes to us alone; an engine's log would fill the host's disk with it.
      LogConfig: { Type: "none" },
      RestartPolicy: { Name: "no" },
      Tmpfs: { ...(kind === "docker" ? dockerTmpfs(spec, user) : podmanTmpfs), ...(channelFolder === undefined && kind === "docker" ? { [inside.channel]: `rw,nosuid,nodev,noexec,size=4m,${owned(user)}` } : {}) },
      Binds: volumes.map(({ name, place }) => `${name}:${place}:rw`),
      Mounts: [...(channelFolder === undefined ? [] : [bind(channelFolder, inside.channel, true)]), ...(spec.door === undefined ? [] : [bind(spec.door, doorPath, false)]), ...mountsOf(spec)],
    },
  };
}

/** What is shown as it is. Of an overlay the copy is made inside, so that it is bounded like everything a program writes. */
function mountsOf({ mounts }: LaunchSpec): readonly object[] {
  const shown = mounts.filter(({ mode }) => mode !== "overlay").map(({ host, guest, mode }) => bind(host, guest, mode === "ro"));
  return [...shown, ...overlaysOf(mounts).map(({ host }, index) => bind(host, `${inside.overlays}/${index}`, true))];
}

/** What Podman has to make as volumes: its tmpfs mounts take neither an owner nor a bound on files. */
export function writableVolumes({ kind, spec, user }: Pick<RequestOptions, "kind" | "spec" | "user">, isShared: boolean): readonly WritableVolume[] {
  if (kind === "docker") return [];
  const channel = isShared ? [] : [{ place: inside.channel, bytes: 4 * mebibyte, files: 16 }];
  // `size` would be read as a quota of the disk; blocks are pages of 4 KiB.
  return [...shares(spec), ...channel].map(({ place, bytes, files }) => ({ place, options: `nr_blocks=${Math.ceil(bytes / 4_096)},nr_inodes=${files},${owned(user)}` }));
}

function dockerTmpfs(spec: LaunchSpec, user: ContainerUser): Record<string, string> {
  return Object.fromEntries(shares(spec).map(({ place, bytes, files }) => [place, `rw,nosuid,nodev,${place === "/dev/shm" ? "noexec" : "exec"},size=${bytes},nr_inodes=${files},${owned(user)}`]));
}

function shares({ bounds: { workspaceMiB, workspaceFiles }, mounts }: LaunchSpec): readonly { readonly place: string; readonly bytes: number; readonly files: number }[] {
  return writablePlaces(mounts).map(({ place, part }) => ({ place, bytes: Math.ceil(workspaceMiB * part * 256) * 4_096, files: Math.max(16, Math.ceil(workspaceFiles * part)) }));
}

/** Podman makes this writable, without a bound, where it makes a root read-only. */
const podmanTmpfs = { "/run": "rw,nosuid,nodev,size=64k,mode=755" };

function bind(source: string, target: string, isReadOnly: boolean): object {
  return { Type: "bind", Source: source, Target: target, ReadOnly: isReadOnly, BindOptions: { Propagation: "rprivate" } };
}

function ulimits({ workspaceMiB, openFiles }: LaunchBounds, maxUserProcesses: number | undefined): readonly object[] {
  const limit = (name: string, value: number): object => ({ Name: name, Soft: value, Hard: value });
  // The number of a user's processes is counted over all containers, so it bounds nothing here: the pids group does.
  return [limit("nofile", openFiles), limit("fsize", workspaceMiB * mebibyte), limit("core", 0), ...(maxUserProcesses === undefined ? [] : [limit("nproc", maxUserProcesses)])];
}

function deviceRequest(gpus: NonNullable<ContainerOptions["gpus"]>): object {
  const which = typeof gpus === "object" ? { DeviceIDs: gpus } : { Count: gpus === "all" ? -1 : gpus };
  return { Driver: "", Capabilities: [["gpu"]], ...which };
}

const guestPath = "/usr/local/bin:/usr/bin:/bin";

/** Not every engine knows that the kernel ended a process for memory; the container's own control group does. */
const tellMemory = 'for f in /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events; do if [ -r $f ]; then while read -r name count; do if [ "$name" = oom_kill ] && [ "$count" -gt 0 ]; then echo memory; fi; done <$f; fi; done;';

/**
 * What the container's first process does: it bounds data (not the engine: its own start would not fit), opens the pipes
 * in a child that becomes the command, and ends as that does, so a signal of the program is seen and orphans are reaped.
 *
 * `opened` is a pipe that is opened and closed: the host sees by it that the others are open. Where no folder is shared the
 * pipes are made here, and 1 and 2 are the container's own; the end waits until the host has heard the last frame.
 */
function bootScript(isShared: boolean): string {
  const at = inside.channel;
  const begin = 'ulimit -d "$1" || exit 125; overlays="$2"; shift 2;';
  if (isShared) return `${begin} (exec </dev/null 3<${at}/commands 4>${at}/frames >${at}/stdout 2>${at}/stderr 5>${at}/opened; exec 5>&-; ${copyOverlays} exec env -i "$@"); code=$?; { ${tellMemory} } >${at}/last; exit $code`;
  return `${begin} heard=; trap heard=1 ${heardSignal}; umask 077; n=$1; shift; : >${at}/guest; while [ "$n" -gt 0 ]; do printf %s "$1" >>${at}/guest; shift; n=$((n-1)); done; mkfifo ${at}/commands ${at}/frames || exit 125; (exec </dev/null 3<${at}/commands 4>${at}/frames; umask 022; ${copyOverlays} exec env -i "$@"); code=$?; i=0; while [ -z "$heard" ] && [ $i -lt 250 ]; do sleep 0.02; i=$((i+1)); done; exit $code`;
}

/** Run as the guest's user, with the guest's own error output: what cannot be copied is said there, and nothing is started. */
const copyOverlays = `keep=; if cp --version 2>/dev/null | grep -q GNU; then keep=--preserve=mode,timestamps; fi; i=0; while [ "$i" -lt "$overlays" ]; do cp -RP $keep -- ${inside.overlays}/$i/. "$1" 2>/dev/null || { echo "the overlay $1 had to be copied, and could not: it is larger than its part of sandbox.workspaceMiB, or holds files that programs cannot read" >&2; exit 125; }; shift; i=$((i+1)); done;`;

/**
 * Carries frames between the pipes inside and an exec, whose input are commands and whose output are frames. It ends with
 * the last frame; only when the host has heard that does the container end, or the engine would lose what is on its way.
 */
export const carryScript = `trap '' INT; until [ -p ${inside.channel}/frames ]; do sleep 0.02; done; exec 3<&0; cat <&3 >${inside.channel}/commands 2>/dev/null & exec cat <${inside.channel}/frames 3<&-`;

/** Tells the first process of such a container that its frames were heard. */
export const heardSignal = "USR1";

/** The longest piece of one argument; Linux allows 128 KiB. */
const pieceChars = 30_000;

function bootArguments(spec: LaunchSpec, isShared: boolean): readonly string[] {
  const variables = { HOME: inside.workspace, PATH: guestPath, LANG: "C.UTF-8", TZ: "UTC", TMPDIR: "/tmp", ...spec.environment };
  const command = spec.command.map((part) => part.replaceAll("{guest}", inside.guestFile).replaceAll("{program}", spec.program?.name ?? "{program}"));
  const overlays = overlaysOf(spec.mounts).map(({ guest }) => guest);
  return ["sh", `${(spec.bounds.memoryMiB + (spec.bounds.reservedMiB ?? 0)) * 1024}`, `${overlays.length}`, ...(isShared ? [] : guestPieces(spec.guestFile)), ...overlays, ...Object.entries(variables).map(([name, value]) => `${name}=${value}`), ...command];
}

function guestPieces(file: URL | undefined): readonly string[] {
  const text = file === undefined ? "" : readFileSync(fileURLToPath(file), "utf8");
  const pieces = Array.from({ length: Math.ceil(text.length / pieceChars) }, (_, index) => text.slice(index * pieceChars, (index + 1) * pieceChars));
  return [`${pieces.length}`, ...pieces];
}
