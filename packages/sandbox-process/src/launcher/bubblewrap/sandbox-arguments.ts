import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { doorPath } from "../launcher.ts";
import type { LaunchBounds, LaunchSpec, Mount } from "../launcher.ts";

/** Where things are inside. */
export const inside = { workspace: "/workspace", guestFile: "/run/callgate/guest.mjs", program: "/run/callgate/program" } as const;

/**
 * Descriptors that bubblewrap reads and closes; 3 and 4 go on to the guest, and so does `stderr`, as its 2: what 2 is before
 * hears only what is said while the walls are built. 5 is the keeper's. `info` tells the number of the first process inside.
 */
export const descriptors = { seccomp: 6, passwd: 7, group: 8, stderr: 9, guestFile: 10, info: 11, arguments: 12 } as const;

/** Uid and gid inside, and of the processes on the host where root starts them. */
export const nobody = 65_534;

export const accountFiles = {
  passwd: `guest:x:${nobody}:${nobody}::${inside.workspace}:/bin/sh\n`,
  group: `guest:x:${nobody}:\n`,
} as const;

/** Of /etc, what libraries need to work and what says nothing of the host. */
const readableFiles = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/mime.types", "/etc/fonts", "/etc/matplotlibrc", "/etc/python3", "/etc/python3.11", "/etc/python3.12", "/etc/python3.13", "/etc/protocols", "/etc/services"];

/**
 * Made by the first stage on a tmpfs with a bound on bytes and on files; see `firstStage`. It hides /sys, since nothing of
 * that may be mounted: anywhere else it could hide what a mount shows.
 */
const bounded = { workspace: "/sys/work", temporary: "/sys/tmp", shared: "/sys/shm", overlay: "/sys/overlay" } as const;

/**
 * Arguments of bubblewrap for one guest, up to `--`. They are handed over by descriptor, so no path of the host stands
 * in a command line that the guest can read.
 */
export function sandboxArguments(spec: LaunchSpec): string[] {
  return [
    "--unshare-user", "--unshare-all", "--disable-userns", "--die-with-parent", "--new-session",
    "--cap-drop", "ALL", "--uid", `${nobody}`, "--gid", `${nobody}`, "--hostname", "sandbox",
    "--seccomp", `${descriptors.seccomp}`, "--info-fd", `${descriptors.info}`,
    ...environment(spec),
    ...systemFolders(),
    ...readableFiles.flatMap((file) => ["--ro-bind-try", file, file]),
    "--perms", "0444", "--ro-bind-data", `${descriptors.passwd}`, "/etc/passwd",
    "--perms", "0444", "--ro-bind-data", `${descriptors.group}`, "/etc/group",
    "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys",
    "--dev", "/dev", "--bind", bounded.shared, "/dev/shm",
    "--bind", bounded.temporary, "/tmp", "--dir", "/var", "--symlink", "../tmp", "/var/tmp",
    "--bind", bounded.workspace, inside.workspace,
    ...(spec.guestFile === undefined ? [] : ["--perms", "0444", "--ro-bind-data", `${descriptors.guestFile}`, inside.guestFile]),
    ...(spec.door === undefined ? [] : ["--bind", spec.door, doorPath]),
    ...(spec.program === undefined ? [] : ["--ro-bind", spec.program.file, inside.program]),
    ...mountArguments(spec.mounts),
    "--remount-ro", "/dev", "--remount-ro", "/",
    "--chdir", inside.workspace,
  ];
}

/** The limits every process inside has, set inside: set outside they would count all processes of the uid. */
export function limitArguments({ memoryMiB, reservedMiB = 0, processes, workspaceMiB, openFiles }: LaunchBounds, prlimit: string): string[] {
  const mebibyte = 1024 * 1024;
  return [prlimit, `--data=${(memoryMiB + reservedMiB) * mebibyte}`, `--nproc=${processes}`, `--fsize=${workspaceMiB * mebibyte}`, `--nofile=${openFiles}`, "--core=0", "--"];
}

/**
 * Ends a guest whose host is gone, at whatever step of its set-up it is. Bubblewrap must not die before what it makes: that
 * would wait for it for good, or go on alone. So it is stopped before one looks whether it has made anything: if it has,
 * that is ended, which ends all inside and then bubblewrap; if not, it is.
 */
export const endKept = [
  'for outer in $program; do kill -STOP $outer; stat=; inner=; read -r stat </proc/$outer/stat; read -r inner </proc/$outer/task/$outer/children',
  'case "$stat" in *") T "*) if [ -n "$inner" ]; then kill -KILL $inner; kill -CONT $outer; else kill -KILL $outer; fi ;; esac; done',
].join("; ");

/** What the first stage says when it cannot make an overlay, with its number among them. */
export const overlayFailed = "callgate-overlay";

/**
 * Makes the overlay of a folder in the bounded tmpfs: of one that is the guest's user's by the kernel's overlayfs, where
 * its tmpfs knows the attributes that needs ($overlays); else as a copy, whose files are the guest's.
 */
const overlayStage = [
  `overlay() { d=${bounded.overlay}$1; mkdir $d $d/lower $d/upper $d/work $d/all || return 1`,
  'if [ "$overlays" = 1 ] && [ -O "$2" ] && mount --rbind "$2" $d/lower 2>/dev/null && mount -t overlay -o userxattr,lowerdir=$d/lower,upperdir=$d/upper,workdir=$d/work overlay $d/all 2>/dev/null; then return 0; fi',
  'keep=; if cp --version 2>/dev/null | grep -q GNU; then keep=--preserve=mode,timestamps; fi',
  `cp -RP $keep -- "$2/." $d/all 2>/dev/null || { echo "${overlayFailed} $1" >&2; return 1; }; }`,
].join("; ");

/**
 * First stage, in a mount namespace of its own: closes what this process was itself started with and never knew of, mounts
 * the one tmpfs that can be written (`--size` of bubblewrap knows no bound on files) and the overlays, then becomes
 * bubblewrap.
 */
export const firstStage = [
  `${overlayStage}; for path in /proc/$$/fd/*; do fd="\${path##*/}"; if [ "$fd" -gt ${descriptors.arguments} ]; then eval "exec $fd>&-"; fi; done`,
  'mount -t tmpfs -o "size=$1m,nr_inodes=$2,mode=0755,nosuid,nodev" tmpfs /sys',
  `mkdir ${bounded.workspace} ${bounded.temporary} ${bounded.shared}`,
  '{ overlays="$3"; n="$4"; shift 4; i=0; while [ "$i" -lt "$n" ]; do overlay "$i" "$1" || exit 125; shift; i=$((i+1)); done; exec "$@"; }',
].join(" && ");

/** Since this version of Linux a tmpfs takes the attributes in which overlayfs notes what was deleted. */
const firstWithTmpfsAttributes = [6, 6] as const;

/** What `firstStage` gets before the command it becomes. */
export function stageArguments({ bounds, mounts }: LaunchSpec, kernel: string): readonly string[] {
  const [major = 0, minor = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  const [firstMajor, firstMinor] = firstWithTmpfsAttributes;
  const hasAttributes = major > firstMajor || (major === firstMajor && minor >= firstMinor);
  const overlays = mounts.filter(({ mode }) => mode === "overlay").map(({ host }) => host);
  return [`${bounds.workspaceMiB}`, `${bounds.workspaceFiles}`, hasAttributes ? "1" : "0", `${overlays.length}`, ...overlays];
}

/** From here on what is said is the guest's. */
export const guestStage = ["/bin/sh", "-c", `exec "$@" 2>&${descriptors.stderr} ${descriptors.stderr}>&-`, "sh"] as const;

function environment({ environment: given }: LaunchSpec): string[] {
  const variables = { HOME: inside.workspace, PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", TZ: "UTC", TMPDIR: "/tmp", ...given };
  return ["--clearenv", ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value])];
}

/** /usr, and the folders beside it as this host has them: links into /usr on most, folders of their own on some. */
function systemFolders(): string[] {
  const beside = ["/bin", "/sbin", "/lib", "/lib64", "/lib32"].filter((folder) => existsSync(folder));
  return ["--ro-bind", "/usr", "/usr", ...beside.flatMap((folder) => (lstatSync(folder).isSymbolicLink() ? ["--symlink", readlinkSync(folder), folder] : ["--ro-bind", folder, folder]))];
}

function mountArguments(mounts: readonly Mount[]): string[] {
  const overlays = mounts.filter(({ mode }) => mode === "overlay");
  return mounts.flatMap((mount) => {
    const { host, guest, mode } = mount;
    if (mode === "overlay") return ["--bind", `${bounded.overlay}${overlays.indexOf(mount)}/all`, guest];
    return [mode === "rw" ? "--bind" : "--ro-bind", host, guest];
  });
}
