import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { LaunchedGuest, Launcher, LauncherProbe, LaunchSpec } from "../launcher.ts";
import { currentMounts } from "../../mounts/check-mounts.ts";
import { startContainerGuest } from "./container-guest.ts";
import { findImages, imageFor } from "./container-images.ts";
import type { ImageSet } from "./container-images.ts";
import { checkContainerOptions } from "./container-options.ts";
import type { ContainerOptions } from "./container-options.ts";
import type { ContainerUser, EngineKind } from "./container-request.ts";
import { findEngine } from "./find-engine.ts";
import type { Engine } from "./find-engine.ts";
import { ownerMark } from "./local-container.ts";
import { channelFolderPrefix, removeOrphans } from "./orphans.ts";
import { hardenedProfile } from "./seccomp-profile.ts";
import { tryGuest } from "./try-guest.ts";

/** Who owns nothing in an image and on this machine. */
const nobody = 65_534;

/** Shared by all guests of one launcher. */
interface Host {
  readonly engine: Engine;
  readonly images: ImageSet;
  channel: "mount" | "exec";
  /** True while programs get our filter: the engine's own lets them make sockets of any family, some namespaces, mounts, rings. */
  hasOwnFilter: boolean;
  /** False for a runtime that is a wall of another kind: a kernel of its own. */
  readonly hasSeccomp: boolean;
  /** Whom programs run as. */
  readonly user: ContainerUser;
}

/**
 * Starts guests as containers of Docker or Podman, over the engine's unix socket on this machine.
 *
 * No network, a read-only root, one user who is not root, no capability, no way to new privileges, the engine's seccomp
 * filter, bounds on memory with swap, processes, CPU, bytes and files. Containers and what belongs to them are removed when
 * their guests end; what a killed process of ours left behind, when the next launcher is probed. It has to be probed
 * before it launches. Throws `CallgateError` CONFIG_INVALID for options that are wrong or would open a wall.
 */
export function createContainerLauncher(kind: EngineKind, options: ContainerOptions = {}): Launcher {
  checkContainerOptions(options);
  const owner = ownerMark(hostname());
  const cleanings = new Set<Promise<void>>();
  let folder: string | undefined;
  let host: Host | undefined;
  let probing: Promise<LauncherProbe> | undefined;
  let count = 0;

  function launch(spec: LaunchSpec): LaunchedGuest {
    if (host === undefined) throw new CallgateError("DRIVER_FAILED", `The sandbox ${kind} does not work here, or was not probed`);
    const { engine, images, channel, user } = host;
    const mounts = currentMounts(spec.mounts, { sockets: [engine.client.socketPath] });
    const image = imageFor(images, spec.language);
    if (image === undefined) throw new CallgateError("DRIVER_FAILED", `The sandbox ${kind} has no image for ${spec.language ?? "programs"}. To do: callgate sandbox images build, or name one in sandbox.container.image`);
    if (spec.door !== undefined) openDoor(spec.door, host);
    count += 1;
    folder ??= mkdtempSync(join(tmpdir(), `${channelFolderPrefix}${process.pid}-`));
    return startContainerGuest({
      client: engine.client,
      kind: engine.kind,
      image: image.id,
      owner,
      spec: { ...spec, mounts },
      user,
      options,
      name: `callgate-${process.pid}-${Date.now().toString(36)}-${count}`,
      channelFolder: channel === "mount" ? join(folder, `${count}`) : undefined,
      seccomp: host.hasOwnFilter ? profileFor(kind, folder) : undefined,
      maxUserProcesses: engine.kind === "podman" ? ownProcessLimit() : undefined,
      cleaning(removal) {
        const settled: Promise<void> = removal.catch(() => undefined).finally(() => cleanings.delete(settled));
        cleanings.add(settled);
      },
    });
  }

  async function probe(): Promise<LauncherProbe> {
    try {
      const opened = await openHost(kind, options);
      if ("reason" in opened) return { kind: "unavailable", ...opened };
      host = opened;
      const problem = await settleChannel(opened, options, launch);
      if (problem === undefined) return { kind: "ready", missing: missingOf(opened, kind) };
      host = undefined;
      return { kind: "unavailable", reason: problem, fix: fixFor(problem) };
    } catch (fault) {
      return { kind: "unavailable", reason: fault instanceof Error ? fault.message : String(fault), fix: "see the reason" };
    }
  }

  return {
    name: kind,
    ...foreignUser(),
    probe: () => (probing ??= probe()),
    launch,
    async close() {
      await Promise.all(cleanings);
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      folder = undefined;
    },
  };
}

/** Never root. Who is not root shares folders with programs, so they are this user. */
function guestUser(): ContainerUser {
  const [uid = 0, gid = 0] = [process.getuid?.(), process.getgid?.()];
  return uid === 0 ? { uid: nobody, gid: nobody } : { uid, gid: gid === 0 ? nobody : gid };
}

/** For who gives folders to programs. */
function foreignUser(): Pick<Launcher, "guestUser"> {
  const user = guestUser();
  return user.uid === process.getuid?.() ? {} : { guestUser: { ...user, isShown: true } };
}

/** The engine and the images; what was left behind there is removed. */
async function openHost(kind: EngineKind, options: ContainerOptions): Promise<Host | { readonly reason: string; readonly fix: string }> {
  const engine = await findEngine(kind, options);
  if ("reason" in engine) return engine;
  await removeOrphans(engine.client);
  const images = await findImages(engine.client, options);
  if ("reason" in images) return images;
  const hasSeccomp = options.runtime === undefined || options.runtime === "runc" || options.runtime === "crun";
  return { engine, images, channel: options.channel === "exec" ? "exec" : "mount", hasOwnFilter: hasSeccomp, hasSeccomp, user: guestUser() };
}

/** Tries a guest; where nothing comes over shared pipes, frames go through the engine. The first problem is the one told. */
async function settleChannel(host: Host, options: ContainerOptions, launch: (spec: LaunchSpec) => LaunchedGuest): Promise<string | undefined> {
  const first = await tryGuest(launch, host);
  if (first.problem === undefined || !first.isSilent || options.channel === "mount") return first.problem;
  if (host.channel === "mount") {
    host.channel = "exec";
    if ((await tryGuest(launch, host)).problem === undefined) return undefined;
  }
  if (!host.hasOwnFilter) return first.problem;
  host.hasOwnFilter = false;
  return (await tryGuest(launch, host)).problem === undefined ? undefined : first.problem;
}

/** Lets nobody, who runs the program, open the way out. It is alone in a folder of this user's. */
function openDoor(door: string, { engine, channel }: Host): void {
  if (channel === "exec") throw new CallgateError("CONFIG_INVALID", `The sandbox ${engine.kind} cannot let programs reach a network here: its engine does not share folders with this host. Remove sandbox.network, or use bubblewrap`);
  chmodSync(door, 0o666);
}

function missingOf({ engine, images, hasSeccomp, hasOwnFilter }: Host, kind: EngineKind): readonly string[] {
  return [...engine.missing, ...(hasSeccomp && !hasOwnFilter ? [weakFilter(kind)] : []), ...images.notes];
}

function weakFilter(kind: EngineKind): string {
  return `system calls: the own filter of ${kind} is on, which lets programs make sockets of odd families${kind === "podman" ? ", user namespaces and mounts" : ""}; ours could not be given to it${kind === "podman" ? ": its service is on another machine" : ""}`;
}

/** Docker takes the text; Podman reads a file, written once a launcher, when a container starts. */
function profileFor(kind: EngineKind, folder: string): string {
  if (kind === "docker") return JSON.stringify(hardenedProfile());
  const file = join(folder, "seccomp.json");
  if (!existsSync(file)) writeFileSync(file, JSON.stringify(hardenedProfile()));
  return file;
}

function fixFor(problem: string): string {
  if (/device driver|gpu/i.test(problem)) return "install the vendor's container toolkit and restart the engine, or remove sandbox.container.gpus";
  if (/cgroup/i.test(problem)) return "set the engine's runtime to runc (Docker: default-runtime in daemon.json; Podman: --runtime runc), or boot with control groups v2 alone";
  if (/bounded|filtered|privileges|capabilities/.test(problem)) return "use another engine: this one did not build a wall it was asked for";
  return "see what the engine said; callgate sandbox images check looks at the image";
}


function ownProcessLimit(): number | undefined {
  try {
    const hard = /^Max processes\s+\S+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return hard === undefined ? undefined : Math.min(Number(hard), 32_768);
  } catch {
    return undefined;
  }
}
