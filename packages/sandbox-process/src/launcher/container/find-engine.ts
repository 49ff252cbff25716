import { homedir } from "node:os";
import { join } from "node:path";
import type { ContainerOptions } from "./container-options.ts";
import type { EngineKind } from "./container-request.ts";
import { createEngineClient, EngineError } from "./engine-client.ts";
import type { EngineClient } from "./engine-client.ts";

/** An engine that answered and has what the options ask for. */
export interface Engine {
  readonly kind: EngineKind;
  readonly client: EngineClient;
  readonly version: string;
  /** Walls beyond the minimum that it cannot build, each with the way to get it. */
  readonly missing: readonly string[];
}

/** Why none can be used, and what to do. */
export interface NoEngine {
  readonly reason: string;
  readonly fix: string;
}

interface Info {
  readonly ServerVersion?: string;
  readonly Labels?: readonly string[] | null;
  readonly Runtimes?: Readonly<Record<string, object>>;
  readonly DefaultRuntime?: string;
  readonly SecurityOptions?: readonly string[] | null;
  readonly MemoryLimit?: boolean;
  readonly SwapLimit?: boolean;
  readonly PidsLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly OSType?: string;
}

/** Where engines listen, most likely first. Sockets of other kinds of address are an engine over the network: not used. */
function engineSockets(kind: EngineKind, environment: NodeJS.ProcessEnv): readonly string[] {
  const named = environment[kind === "docker" ? "DOCKER_HOST" : "CONTAINER_HOST"];
  if (named !== undefined && named !== "") return named.startsWith("unix://") ? [named.slice("unix://".length)] : [];
  const runtimeFolder = environment["XDG_RUNTIME_DIR"];
  if (kind === "docker") return ["/var/run/docker.sock", ...(runtimeFolder === undefined ? [] : [join(runtimeFolder, "docker.sock")]), join(homedir(), ".docker/run/docker.sock")];
  return ["/run/podman/podman.sock", ...(runtimeFolder === undefined ? [] : [join(runtimeFolder, "podman/podman.sock")])];
}

/** The first engine of this kind that answers and has the labels and the runtime that are asked for. */
export async function findEngine(kind: EngineKind, options: ContainerOptions): Promise<Engine | NoEngine> {
  const sockets = options.engines?.map((engine) => engine.replace(/^unix:\/\//, "")) ?? engineSockets(kind, process.env);
  const refused: NoEngine[] = [];
  for (const socketPath of sockets) {
    const tried = await tryEngine(kind, socketPath, options);
    if ("client" in tried) return tried;
    refused.push(tried);
  }
  const start = kind === "docker" ? "install and start it: apt install docker.io && systemctl start docker; another place: sandbox.container.engines" : "install and start it: apt install podman && systemctl start podman.socket (or podman system service --time=0 unix:///run/podman/podman.sock)";
  // One that answers says more about what to do than those that are not there.
  const telling = refused.find(({ fix }) => fix !== "");
  return telling ?? { reason: `no ${kind} answers${sockets.length === 0 ? ": its address is no unix socket" : ` at ${sockets.join(", ")}`}`, fix: start };
}

async function tryEngine(kind: EngineKind, socketPath: string, options: ContainerOptions): Promise<Engine | NoEngine> {
  const first = createEngineClient(socketPath);
  try {
    // Not GET /version: Podman asks the package manager for the versions of its helpers there, which takes a second and more.
    const { found, apiVersion } = await greet(first);
    if (found !== kind) return { reason: `at ${socketPath} answers ${found}, not ${kind}`, fix: `sandbox.launcher: "${found}"` };
    const info = (await first.call("GET", "/info", { timeoutMs: 10_000 })) as Info;
    const problem = lacking(kind, info, options);
    if (problem !== undefined) return problem;
    return { kind, client: createEngineClient(socketPath, apiVersion), version: info.ServerVersion ?? "", missing: weakerWalls(info) };
  } catch (fault) {
    if (fault instanceof EngineError && fault.systemCode === "EACCES") return { reason: `this user may not open ${socketPath}`, fix: "use a rootless engine, or let root add this user to the socket's group (who can open it can become root)" };
    return { reason: fault instanceof Error ? fault.message : String(fault), fix: "" };
  } finally {
    first.close();
  }
}

/** Which engine it is and the newest API it speaks, from the head of its answer to a ping. */
async function greet(client: EngineClient): Promise<{ readonly found: EngineKind; readonly apiVersion: string | undefined }> {
  const response = await client.open("GET", "/_ping", { timeoutMs: 10_000 });
  response.resume();
  const apiVersion = response.headers["api-version"];
  return { found: "libpod-api-version" in response.headers ? "podman" : "docker", apiVersion: typeof apiVersion === "string" ? apiVersion : undefined };
}

/** What of the minimum, or of what was asked for, it does not have. */
function lacking(kind: EngineKind, info: Info, { labels = {}, runtime, gpus }: ContainerOptions): NoEngine | undefined {
  const own = info.Labels ?? [];
  const absent = Object.entries(labels).filter(([name, value]) => !own.includes(`${name}=${value}`));
  if (absent.length > 0) return { reason: `the engine does not have the label ${absent.map(([name, value]) => `${name}=${value}`).join(", ")}; it has ${own.join(", ") || "none"}`, fix: "name another engine in sandbox.container.engines, or start this one with --label" };
  if (info.OSType !== undefined && info.OSType !== "linux") return { reason: `the engine runs ${info.OSType} containers`, fix: "switch it to Linux containers" };
  if (info.PidsLimit === false) return { reason: "the engine cannot bound the number of processes (rootless, or without the pids control group)", fix: "use control groups v2, or an engine that runs as root" };
  const seccomp = (info.SecurityOptions ?? []).find((option) => option.startsWith("name=seccomp"));
  if (runtime === undefined && (seccomp === undefined || seccomp.includes("unconfined"))) return { reason: "the engine filters no system calls (its seccomp profile is off)", fix: "start it with its default seccomp profile" };
  const known = Object.keys(info.Runtimes ?? {});
  if (runtime !== undefined && kind === "docker" && !known.includes(runtime)) return { reason: `the engine does not know the runtime ${runtime}; it knows ${known.join(", ")}`, fix: `add it to "runtimes" in /etc/docker/daemon.json and restart the engine` };
  // Podman takes a runtime by request and ignores it, in silence.
  if (runtime !== undefined && kind === "podman" && info.DefaultRuntime !== runtime) return { reason: `Podman's service runs ${info.DefaultRuntime ?? "its default runtime"} and takes no other by request`, fix: `start it with podman --runtime ${runtime} system service` };
  if (gpus !== undefined && kind === "podman") return { reason: "Podman takes no graphics processors by this API", fix: 'sandbox.launcher: "docker"' };
  return undefined;
}

function weakerWalls(info: Info): readonly string[] {
  const said: readonly (readonly [boolean | undefined, string])[] = [
    [info.MemoryLimit, "the sum of a guest's memory is watched, not bounded by the kernel: the engine has no memory control group (rootless on control groups v1: use v2)"],
    [info.SwapLimit, "swap is not bounded: boot the engine's kernel with swapaccount=1, or without swap"],
    [info.CpuCfsQuota, "a share of the CPU is not bounded: the engine's kernel has no CPU quota"],
  ];
  return said.flatMap(([has, what]) => (has === false ? [what] : []));
}
