import { resolve } from "node:path";
import type { SandboxDriver } from "@callgate/contract";
import { createAutoLauncher, createBubblewrapLauncher, createContainerLauncher, createProcessDriver, createUnsafeLocalLauncher } from "@callgate/sandbox-process";
import type { ContainerOptions, Launcher, SandboxBounds } from "@callgate/sandbox-process";
import type { SandboxConfig } from "./config/config-schema.ts";

/**
 * Every launcher there is, strongest first: those that `auto` may take, and the one that is no wall, which it never does.
 *
 * A stronger runtime for containers (gVisor, Kata) puts them first. Graphics processors and labels of a host are there for
 * containers only.
 */
export function allLaunchers({ container }: Pick<SandboxConfig, "container"> = {}): { readonly auto: readonly Launcher[]; readonly all: readonly Launcher[] } {
  const options = containerOptions(container);
  const containers = [createContainerLauncher("docker", options), createContainerLauncher("podman", options)];
  const bubblewrap = createBubblewrapLauncher();
  const isFirst = options.runtime !== undefined && options.runtime !== "runc" && options.runtime !== "crun";
  const auto = options.gpus !== undefined || options.labels !== undefined ? containers : isFirst ? [...containers, bubblewrap] : [bubblewrap, ...containers];
  return { auto, all: [...new Set([...auto, bubblewrap]), createUnsafeLocalLauncher()] };
}

/** The launcher a configuration names. */
export function launcherOf({ launcher = "auto", container }: Pick<SandboxConfig, "launcher" | "container">): Launcher {
  switch (launcher) {
    case "auto":
      return createAutoLauncher(allLaunchers({ container }).auto);
    case "bubblewrap":
      return createBubblewrapLauncher();
    case "docker":
    case "podman":
      return createContainerLauncher(launcher, containerOptions(container));
    case "local-unsafe":
      return createUnsafeLocalLauncher();
  }
}

/** What a configuration says, without the keys it leaves out. */
export function containerOptions(config: SandboxConfig["container"]): ContainerOptions {
  return Object.fromEntries(Object.entries(config ?? {}).filter(([, value]) => value !== undefined));
}

/** Whom programs of this configuration are on the host, where they are not the user of this process. Which launcher `auto` takes is known once it was probed. */
export async function guestUserOf(config: SandboxConfig): Promise<Launcher["guestUser"]> {
  const launcher = launcherOf(config);
  await launcher.probe();
  const { guestUser } = launcher;
  await launcher.close?.();
  return guestUser;
}

/** This process's own variables of these names, as far as they are set. */
function passed(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

/**
 * The driver of Python and shell programs. Nothing is started, and the launcher not tried, before the first of them.
 *
 * @param folder relative paths of mounts start here
 * @param isLongLived whether interpreters are worth keeping ready
 */
export function sandboxDriver(config: SandboxConfig, folder: string, isLongLived: boolean): SandboxDriver {
  const { processes, workspaceMiB, mounts = [], environment = {}, passEnvironment = [], network, maxGuests, warm = isLongLived ? 1 : 0 } = config;
  const bounds: Partial<SandboxBounds> = { ...(processes === undefined ? {} : { processes }), ...(workspaceMiB === undefined ? {} : { workspaceMiB }) };
  return createProcessDriver({
    launcher: launcherOf(config),
    warm,
    bounds,
    mounts: mounts.map((mount) => ({ ...mount, host: resolve(folder, mount.host) })),
    ...(maxGuests === undefined ? {} : { maxGuests }),
    environment: { ...passed(passEnvironment), ...environment },
    ...(network === undefined ? {} : { network: { allow: network.allow, ...(network.unsafeRanges === undefined ? {} : { unsafeRanges: network.unsafeRanges }) } }),
  });
}
