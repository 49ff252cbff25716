import { statSync } from "node:fs";
import type { Stats } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import { CallgateError } from "@callgate/contract";
import { doorPath } from "../launcher/launcher.ts";
import type { Mount } from "../launcher/launcher.ts";
import { isWithin, resolvedPath } from "./resolved-path.ts";

/** What must not be seen beside what never may. */
export interface MountRules {
  /** Sockets of engines beside the usual ones. */
  readonly sockets?: readonly string[];
  /** Files and folders of Callgate: journal, keys, configuration of the user. */
  readonly ownPlaces?: readonly string[];
}

/** Whoever can open one of these has the host. */
const engineSockets = ["/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock", "/run/buildkit/buildkitd.sock", "/run/systemd/private", "/run/dbus/system_bus_socket"];
const userSockets = [".docker/run/docker.sock", ".docker/desktop/docker.sock", ".colima/default/docker.sock", ".rd/docker.sock"];

/** Not they, nothing in them, nothing above them. */
const systemFolders: Readonly<Record<string, string>> = {
  "/proc": "a part of the running kernel",
  "/sys": "a part of the running kernel",
  "/dev": "the devices of this machine",
  "/etc": "the settings of this machine, its users and keys",
  "/boot": "what this machine starts from",
  "/run": "where this machine's services have their sockets and secrets",
};

/** Where systems keep the homes of all. */
const homesFolders = ["/home", "/Users", "/root"];

/** Folders of credentials, in whose home they may be: not they, nothing in them, no folder that holds one. */
const secretFolders = [".ssh", ".aws", ".gnupg", ".kube", ".azure", ".docker", ".password-store", ".config/gcloud", ".config/gh", ".config/op", ".local/share/keyrings", "Library/Keychains"];
/** Files of credentials. */
const secretFiles = [".netrc", ".pgpass", ".git-credentials", ".vault-token", ".my.cnf", ".npmrc", ".pypirc"];
/** A project has these too, without a secret. */
const alsoOfProjects = new Set([".docker"]);

/** Where nothing of the host may stand in the guest: what stands there is a part of the walls, or of Callgate. */
const guestPlaces = ["/proc", "/sys", "/dev", dirname(doorPath)];

/**
 * The mounts with what they show named by its real path. Refuses what would hand the host over or what belongs to
 * Callgate, wherever links lead.
 *
 * Called when a sandbox is configured; `currentMounts` again for each guest: links may have changed meanwhile. Throws `CallgateError`
 * MOUNT_REFUSED; its message names the path of the host, its `details` the path in the guest and why.
 */
export function checkMounts(mounts: readonly Mount[], { sockets = [], ownPlaces = [] }: MountRules = {}): readonly Mount[] {
  const doors = [...engineSockets, ...environmentSockets(), ...userSockets.map((socket) => join(homedir(), socket)), ...sockets].flatMap(bothNames);
  const own = ownPlaces.flatMap(bothNames);
  const taken = new Set<string>();
  return mounts.map((mount) => {
    checkGuestPlace(mount, taken);
    const { host, mode } = mount;
    if (!isAbsolute(host) || /[\0\n]/.test(host)) throw refusal(mount, "it is no absolute path");
    const place = resolvedPath(host);
    // What it would be is looked at before whether it is there: a refusal tells nothing of what exists.
    const problem = placeProblem(place, { doors, own });
    if (problem !== undefined) throw refusal(mount, problem);
    const state = stateOf(place);
    if (state === undefined) throw refusal(mount, "there is no such file or folder");
    if (!state.isDirectory() && !state.isFile()) throw refusal(mount, "it is neither a folder nor a file: sockets, pipes and devices lead to other processes of this machine");
    if (mode === "overlay" && !state.isDirectory()) throw refusal(mount, "only a folder can be an overlay");
    return { ...mount, host: place };
  });
}

/**
 * `checkMounts` for a guest that is about to start, whose end a program's author reads: the message of MOUNT_REFUSED names
 * the path in the guest only.
 */
export function currentMounts(mounts: readonly Mount[], rules: MountRules = {}): readonly Mount[] {
  try {
    return checkMounts(mounts, rules);
  } catch (fault) {
    if (!CallgateError.is(fault) || fault.code !== "MOUNT_REFUSED") throw fault;
    const [guest, why] = ["guest", "why"].map((name) => (typeof fault.details[name] === "string" ? fault.details[name] : ""));
    throw new CallgateError("MOUNT_REFUSED", `the mount ${guest} cannot be made: ${why}`, { cause: fault, details: fault.details });
  }
}

function placeProblem(place: string, { doors, own }: { readonly doors: readonly string[]; readonly own: readonly string[] }): string | undefined {
  if (place === "/") return "it is the whole file system of this machine";
  if (homesFolders.includes(place) || isWithin(place, resolvedPath(homedir()))) return "it is a whole home folder, or above one, with the keys and settings in it";
  const door = doors.find((socket) => isWithin(place, socket));
  if (door !== undefined) return `${door === place ? "it is" : "there is in it"} a socket that gives whoever opens it this machine`;
  const system = Object.entries(systemFolders).find(([folder]) => bothNames(folder).some((name) => isWithin(name, place)));
  if (system !== undefined) return `it is ${system[1]}`;
  const secret = secretIn(place);
  if (secret !== undefined) return secret;
  const kept = own.find((path) => isWithin(place, path) || isWithin(path, place));
  return kept === undefined ? undefined : "Callgate's own files are there: its journal, its keys or its configuration";
}

function secretIn(place: string): string | undefined {
  if (secretFiles.includes(basename(place))) return "it is a file of credentials";
  if (secretFolders.some((folder) => `${place}/`.includes(`/${folder}/`))) return "it is a folder of credentials";
  const held = secretFolders.find((folder) => !alsoOfProjects.has(folder) && stateOf(join(place, folder)) !== undefined);
  return held === undefined ? undefined : `there is a folder of credentials in it, ${held}`;
}

function checkGuestPlace(mount: Mount, taken: Set<string>): void {
  const { guest } = mount;
  if (!isAbsolute(guest) || normalize(guest) !== guest || (guest.endsWith("/") && guest !== "/") || /[\0\n]/.test(guest)) throw refusal(mount, `its place in the guest, ${JSON.stringify(guest)}, is no plain absolute path`);
  if (guestPlaces.some((place) => isWithin(place, guest) || isWithin(guest, place))) throw refusal(mount, `its place in the guest, ${guest}, is a part of the walls`);
  if (taken.has(guest)) throw refusal(mount, `two mounts have the place ${guest} in the guest`);
  taken.add(guest);
}

function refusal({ host, guest }: Mount, why: string): CallgateError {
  return new CallgateError("MOUNT_REFUSED", `Cannot mount ${host} into a sandbox: ${why}. Mount the folder that holds the files a program needs, and nothing above it`, { details: { guest, why } });
}

function environmentSockets(): readonly string[] {
  const named = ["DOCKER_HOST", "CONTAINER_HOST"].flatMap((name) => process.env[name] ?? []).filter((address) => address.startsWith("unix://"));
  return named.map((address) => address.slice("unix://".length));
}

function bothNames(path: string): readonly string[] {
  return [path, resolvedPath(path)];
}


function stateOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
