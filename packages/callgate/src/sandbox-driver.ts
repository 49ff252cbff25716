import { resolve } from "node:path";
import type { SandboxDriver } from "@callgate/contract";
import { createBubblewrapLauncher, createProcessDriver, createUnsafeLocalLauncher } from "@callgate/sandbox-process";
import type { Launcher, SandboxBounds } from "@callgate/sandbox-process";
import type { SandboxConfig } from "./config/config-schema.ts";

/** Every launcher there is, strongest first. `auto` never reaches the last one: it is no wall. */
export function allLaunchers(): readonly Launcher[] {
  return [createBubblewrapLauncher(), createUnsafeLocalLauncher()];
}

/** The launcher a configuration names. */
function launcherOf({ launcher = "auto" }: Pick<SandboxConfig, "launcher">): Launcher {
  return launcher === "local-unsafe" ? createUnsafeLocalLauncher() : createBubblewrapLauncher();
}

/**
 * The driver of Python and shell programs. Nothing is started, and the launcher not tried, before the first of them.
 *
 * @param folder relative paths of mounts start here
 * @param isLongLived whether interpreters are worth keeping ready
 */
export function sandboxDriver(config: SandboxConfig, folder: string, isLongLived: boolean): SandboxDriver {
  const { processes, workspaceMiB, mounts = [], environment, network, maxGuests, warm = isLongLived ? 1 : 0 } = config;
  const bounds: Partial<SandboxBounds> = { ...(processes === undefined ? {} : { processes }), ...(workspaceMiB === undefined ? {} : { workspaceMiB }) };
  return createProcessDriver({
    launcher: launcherOf(config),
    warm,
    bounds,
    mounts: mounts.map((mount) => ({ ...mount, host: resolve(folder, mount.host) })),
    ...(maxGuests === undefined ? {} : { maxGuests }),
    ...(environment === undefined ? {} : { environment }),
    ...(network === undefined ? {} : { network: { allow: network.allow, ...(network.unsafeRanges === undefined ? {} : { unsafeRanges: network.unsafeRanges }) } }),
  });
}
