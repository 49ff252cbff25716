import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { doorPath } from "../launcher.ts";
import type { LaunchBounds, LaunchSpec, Mount } from "../launcher.ts";

/** Where things are inside. */
export const inside = { workspace: "/workspace", guestFile: "/run/callgate/guest.mjs", program: "/run/callgate/program" } as const;

/** Descriptors that bubblewrap reads and closes; 3 and 4 go on to the guest. */
export const descriptors = { arguments: 5, seccomp: 6, passwd: 7, group: 8, guestFile: 9 } as const;

/** Uid and gid inside, and of the processes on the host where root starts them. */
export const nobody = 65_534;

export const accountFiles = {
  passwd: `guest:x:${nobody}:${nobody}::${inside.workspace}:/bin/sh\n`,
  group: `guest:x:${nobody}:\n`,
} as const;

/** Of /etc, what libraries need to work and what says nothing of the host. */
const readableFiles = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/mime.types", "/etc/fonts", "/etc/matplotlibrc", "/etc/python3", "/etc/python3.11", "/etc/python3.12", "/etc/python3.13", "/etc/protocols", "/etc/services"];

/** Made by the first stage on a tmpfs with a bound on bytes and on files; see `firstStage`. */
const bounded = { workspace: "/mnt/work", temporary: "/mnt/tmp", shared: "/mnt/shm" } as const;

/**
 * Arguments of bubblewrap for one guest, up to `--`. They are handed over by descriptor, so no path of the host stands
 * in a command line that the guest can read.
 */
export function sandboxArguments(spec: LaunchSpec): string[] {
  return [
    "--unshare-user", "--unshare-all", "--disable-userns", "--die-with-parent", "--new-session",
    "--cap-drop", "ALL", "--uid", `${nobody}`, "--gid", `${nobody}`, "--hostname", "sandbox",
    "--seccomp", `${descriptors.seccomp}`,
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
    ...spec.mounts.flatMap(mount),
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
 * First stage, in a mount namespace of its own: closes what this process was itself started with and never knew of, mounts
 * the one tmpfs that can be written (`--size` of bubblewrap knows no bound on files), then becomes bubblewrap.
 */
export const firstStage = [
  'for path in /proc/$$/fd/*; do fd="${path##*/}"; if [ "$fd" -gt 9 ]; then eval "exec $fd>&-"; fi; done',
  'mount -t tmpfs -o "size=$1m,nr_inodes=$2,mode=0755,nosuid,nodev" tmpfs /mnt',
  `mkdir ${bounded.workspace} ${bounded.temporary} ${bounded.shared} && shift 2 && exec "$@"`,
].join(" && ");

function environment({ environment: given }: LaunchSpec): string[] {
  const variables = { HOME: inside.workspace, PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", TZ: "UTC", TMPDIR: "/tmp", ...given };
  return ["--clearenv", ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value])];
}

/** /usr, and the folders beside it as this host has them: links into /usr on most, folders of their own on some. */
function systemFolders(): string[] {
  const beside = ["/bin", "/sbin", "/lib", "/lib64", "/lib32"].filter((folder) => existsSync(folder));
  return ["--ro-bind", "/usr", "/usr", ...beside.flatMap((folder) => (lstatSync(folder).isSymbolicLink() ? ["--symlink", readlinkSync(folder), folder] : ["--ro-bind", folder, folder]))];
}

function mount({ host, guest, mode }: Mount): string[] {
  return [mode === "rw" ? "--bind" : "--ro-bind", host, guest];
}
