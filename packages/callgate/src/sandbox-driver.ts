import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { SandboxDriver } from "@callgate/contract";
import { createAutoLauncher, createBubblewrapLauncher, createContainerLauncher, createProcessDriver, createUnsafeLocalLauncher, nodeLanguage, pythonLanguage, shellLanguage } from "@callgate/sandbox-process";
import type { ContainerOptions, Launcher, SandboxBounds } from "@callgate/sandbox-process";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import type { SandboxConfig } from "./config/config-schema.ts";
import { registeredLanguages } from "./program-languages.ts";
import { canSurelyMakeNamespaces } from "./user-namespaces.ts";
import { remoteSandbox } from "./remote-sandbox.ts";
import type { RemoteSandbox } from "./remote-sandbox.ts";
import { denoDrivers, denoPython, loadDenoSandbox } from "./deno-sandbox.ts";

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

export interface SandboxPlace {
  /** Relative paths of mounts and wheels start here. */
  readonly folder: string;
  /** Files and folders of Callgate, which no mount may show. */
  readonly ownPlaces: readonly string[];
  /** Whether interpreters are worth keeping ready. */
  readonly isLongLived: boolean;
  /** The launcher of another host, where the configuration names one. */
  readonly remote?: Launcher;
}

/** Drivers, and what a person should know about them. */
export interface SandboxDrivers {
  readonly drivers: readonly SandboxDriver[];
  readonly notices: readonly string[];
}

/**
 * The drivers of all programs, those that are taken first before the others. TypeScript and JavaScript run in the embedded
 * sandbox, but with the launcher `deno`, or in Node where that is asked for. Python, shell and Node run behind the launcher;
 * where bubblewrap is not installed or may not make its walls, no container can be had, and Deno is installed, `auto` runs
 * Python there, and says so. Only where bubblewrap may not work is anything tried before the first program.
 *
 * Throws `CallgateError` CONFIG_INVALID, MOUNT_REFUSED.
 */
export async function sandboxDrivers(given: SandboxConfig, { folder, isLongLived, ownPlaces, remote }: SandboxPlace): Promise<SandboxDrivers> {
  const config = { ...given, warm: given.warm ?? (isLongLived ? 1 : 0), ...(given.wheels === undefined ? {} : { wheels: resolve(folder, given.wheels) }) };
  if (config.launcher === "deno") return { drivers: await denoDrivers(config), notices: [] };
  const { launcher = "auto" } = config;
  // On another host, mounts are folders of its own.
  if (launcher === "remote") return { notices: [], drivers: inOrder(config, [createQuickJsDriver(), ...(remote === undefined ? [] : [sandboxDriver(remote, config, { mounts: config.mounts ?? [], ownPlaces })])]) };
  const python = launcher === "auto" && !(hasBubblewrap() && canSurelyMakeNamespaces()) ? await pythonInDeno(config) : { drivers: [], notices: [] };
  const drivers = inOrder(config, [createQuickJsDriver(), ...python.drivers, sandboxDriver(launcherOf({ ...config, launcher }), config, { mounts: (config.mounts ?? []).map((mount) => ({ ...mount, host: resolve(folder, mount.host) })), ownPlaces })]);
  return { drivers, notices: python.notices };
}

/** The first driver of a language gets its programs. The embedded one stays: runs it began go on in it. */
function inOrder({ javascript }: SandboxConfig, [embedded, ...others]: readonly [SandboxDriver, ...SandboxDriver[]]): readonly SandboxDriver[] {
  return javascript === "node" ? [...others, embedded] : [embedded, ...others];
}

function hasBubblewrap(): boolean {
  return process.platform === "linux" && ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"].some((file) => existsSync(file));
}

/** Python in Deno where no stronger sandbox works. Never where programs would lack what the configuration gives them. */
async function pythonInDeno(config: SandboxConfig): Promise<SandboxDrivers> {
  const deno = await loadDenoSandbox();
  const isAskedForMore = config.mounts !== undefined || config.network !== undefined || config.environment !== undefined || config.passEnvironment !== undefined;
  if (deno === undefined || isAskedForMore) return { drivers: [], notices: [] };
  const other = launcherOf({ ...config, launcher: "auto" });
  const probe = await other.probe();
  await other.close?.();
  if (probe.kind === "ready") return { drivers: [], notices: [] };
  const notice = `Python runs in Deno (Pyodide: no processes, no numpy unless sandbox.wheels has it), for no stronger sandbox works here: ${probe.reason}. To do: ${probe.fix}. sandbox.launcher: "deno" says that this is meant`;
  return { drivers: [denoPython(deno, config)], notices: [notice] };
}

/** What `launcherOf` can make at once: Deno's package is loaded when it is asked for. */
type OwnLaunchers = Pick<SandboxConfig, "container"> & { readonly launcher?: Exclude<SandboxConfig["launcher"], "deno" | "remote"> };

/** The launcher a configuration names. */
export function launcherOf({ launcher = "auto", container }: OwnLaunchers): Launcher {
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

/** The launcher of `sandbox.remote`, where programs go there. Errors: `CallgateError` CONFIG_INVALID. */
export function configuredRemote({ launcher, remote }: SandboxConfig, place: Parameters<typeof remoteSandbox>[1]): RemoteSandbox | undefined {
  return launcher === "remote" ? remoteSandbox(remote, place) : undefined;
}

/** What a configuration says, without the keys it leaves out. */
export function containerOptions(config: SandboxConfig["container"]): ContainerOptions {
  return Object.fromEntries(Object.entries(config ?? {}).filter(([, value]) => value !== undefined));
}

/** Whom programs of this configuration are on the host, where they are not the user of this process. Which launcher `auto` takes is known once it was probed. */
export async function guestUserOf(config: SandboxConfig): Promise<Launcher["guestUser"]> {
  const { launcher: named, container } = config;
  if (named === "deno" || named === "remote") return undefined;
  const launcher = launcherOf({ launcher: named, container });
  await launcher.probe();
  const { guestUser } = launcher;
  await launcher.close?.();
  return guestUser;
}

/** This process's own variables of these names, as far as they are set. */
function passed(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

/** The driver of Python, shell and Node programs. The launcher is not tried before the first of them. */
function sandboxDriver(launcher: Launcher, config: SandboxConfig, { mounts, ownPlaces }: { readonly mounts: NonNullable<SandboxConfig["mounts"]> } & Pick<SandboxPlace, "ownPlaces">): SandboxDriver {
  const { processes, workspaceMiB, environment = {}, passEnvironment = [], network, maxGuests, warm = 0 } = config;
  const bounds: Partial<SandboxBounds> = { ...(processes === undefined ? {} : { processes }), ...(workspaceMiB === undefined ? {} : { workspaceMiB }) };
  return createProcessDriver({
    launcher,
    languages: [pythonLanguage, shellLanguage, nodeLanguage(), ...registeredLanguages(config)],
    warm,
    bounds,
    mounts,
    mountRules: { ownPlaces, sockets: (config.container?.engines ?? []).map((engine) => engine.replace(/^unix:\/\//, "")) },
    ...(maxGuests === undefined ? {} : { maxGuests }),
    environment: { ...passed(passEnvironment), ...environment },
    ...(network === undefined ? {} : { network: { allow: network.allow, ...(network.unsafeRanges === undefined ? {} : { unsafeRanges: network.unsafeRanges }) } }),
  });
}
