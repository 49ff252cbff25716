import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { CallgateError } from "@callgate/contract";
import { whenStarted } from "@callgate/sandbox-process";
import type { GuestExit, LaunchedGuest, Launcher, LauncherProbe, LaunchSpec } from "@callgate/sandbox-process";
import { denoBinary } from "./deno-binary.ts";
import { watchProcess } from "./memory-watch.ts";

export interface DenoLauncherOptions {
  /** Name of the sandbox. Default `deno`. */
  readonly name?: string;
  /** Files and folders a guest may read until it gives that up. Default: none. */
  readonly reads?: readonly string[];
  /** Bytes every guest gets on its stdin before anything else. */
  readonly greeting?: Uint8Array;
  /** Further flags of V8. */
  readonly v8Flags?: readonly string[];
  /** Data a guest needs beside the program's, in MiB: V8 reserves half a gibibyte as it starts. */
  readonly idleDataMiB?: number;
}

/** Linux programs (util-linux) that set limits and then become the guest. */
interface LinuxTools {
  readonly prlimit: string;
  readonly setpriv: string;
}

/** Measured with 2.9.6: it starts at 600 MiB and not at 500. */
const defaultIdleDataMiB = 608;
const maxErrorChars = 16_384;
const outOfMemory = /out of memory|memory allocation of \d+ bytes failed|Cannot allocate memory/i;

/**
 * Starts guests in Deno without permissions: no files, network, environment, processes, foreign code, whatever module
 * or worker a program gets hold of. Deno's own check stands before each operation, in the process of the guest.
 *
 * Frames go over stdin and stdout, as a guest without permissions can open no other descriptor; what the engine itself
 * prints as it dies is read, not shown. DENO_DIR is a path that cannot exist, so that nothing is kept between runs.
 * Memory: the heap by V8's own bound; on Linux all data by RLIMIT_DATA; the rest by watching and ending.
 */
export function createDenoLauncher(options: DenoLauncherOptions = {}): Launcher {
  let probing: Promise<LauncherProbe> | undefined;
  const launch = (spec: LaunchSpec): LaunchedGuest => launchGuest(spec, options);
  return {
    name: options.name ?? "deno",
    probe() {
      probing ??= Promise.resolve(probe());
      return probing;
    },
    launch,
  };
}

function probe(): LauncherProbe {
  const binary = denoBinary();
  if ("missing" in binary) return { kind: "unavailable", reason: `the program deno for this machine (${binary.missing}) is not installed`, fix: "npm i @callgate/sandbox-deno, with optional dependencies; on Linux it needs glibc" };
  if (process.platform !== "linux") return { kind: "ready", missing: ["memory outside the engine's heap is watched, not bounded by the kernel", "a guest whose host was killed ends by itself only when it next waits"] };
  return { kind: "ready", missing: linuxTools() === undefined ? ["memory outside the engine's heap is watched, not bounded by the kernel: prlimit and setpriv are missing (apt install util-linux)"] : [] };
}

function linuxTools(): LinuxTools | undefined {
  if (process.platform !== "linux") return undefined;
  const find = (name: string): string | undefined => ["/usr/bin", "/bin", "/usr/local/bin"].map((folder) => join(folder, name)).find((file) => existsSync(file));
  const [prlimit, setpriv] = [find("prlimit"), find("setpriv")];
  return prlimit === undefined || setpriv === undefined ? undefined : { prlimit, setpriv };
}

function launchGuest({ command, guestFile, environment, bounds, mounts }: LaunchSpec, options: DenoLauncherOptions): LaunchedGuest {
  if (mounts.length > 0) throw new CallgateError("CONFIG_INVALID", "The sandbox deno has no files, so nothing can be mounted. Remove sandbox.mounts, or use bubblewrap");
  if (Object.keys(environment).length > 0) throw new CallgateError("CONFIG_INVALID", "Programs in the sandbox deno have no environment. Remove sandbox.environment, or use bubblewrap");
  const binary = denoBinary();
  if ("missing" in binary) throw new CallgateError("DRIVER_FAILED", `The sandbox deno cannot start: ${binary.missing} is not installed`);
  const file = guestFile === undefined ? "" : fileURLToPath(guestFile);
  const guest = command.map((part) => part.replaceAll("{guest}", file));
  const argv = [...limits(bounds, options), binary.path, ...denoArguments(bounds.memoryMiB, options), ...guest];
  const [program = "", ...args] = argv;
  const child = spawn(program, args, {
    cwd: process.platform === "win32" ? undefined : "/",
    // Below a file there can be no folder, on any system.
    env: { DENO_DIR: join(fileURLToPath(import.meta.url), "none"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1", TZ: "UTC", LANG: "C.UTF-8", ...systemVariables() },
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  whenStarted(child, program);
  if (options.greeting !== undefined) child.stdin.write(options.greeting);
  return watch(child);
}

/** Windows starts no program without these; they name folders of the system. */
function systemVariables(): Readonly<Record<string, string>> {
  if (process.platform !== "win32") return {};
  return Object.fromEntries(["SystemRoot", "SystemDrive", "windir"].flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? ""]])));
}

/** Both become the guest: its process is the one that was started. It ends with the host, whatever it is doing. */
function limits({ memoryMiB, openFiles }: LaunchSpec["bounds"], { idleDataMiB = defaultIdleDataMiB }: DenoLauncherOptions): readonly string[] {
  const tools = linuxTools();
  if (tools === undefined) return [];
  return [tools.setpriv, "--pdeathsig", "KILL", "--no-new-privs", tools.prlimit, `--data=${(memoryMiB + idleDataMiB) * 1024 * 1024}`, "--core=0", `--nofile=${openFiles}`, "--fsize=0"];
}

function denoArguments(memoryMiB: number, { reads = [], v8Flags = [] }: DenoLauncherOptions): readonly string[] {
  for (const path of reads) if (path.includes(",")) throw new CallgateError("CONFIG_INVALID", `Deno cannot be told to read a path with a comma: ${path}`);
  return [
    "run",
    "--no-prompt",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--no-check",
    "--no-code-cache",
    `--v8-flags=${[`--max-old-space-size=${memoryMiB}`, ...v8Flags].join(",")}`,
    ...(reads.length === 0 ? [] : [`--allow-read=${reads.join(",")}`]),
  ];
}

function watch(child: ChildProcessWithoutNullStreams): LaunchedGuest {
  const { stdin, stdout, stderr } = child;
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => undefined);
  const use = watchProcess(child.pid ?? 0);
  // What the engine prints when it dies: places in its own code, for us.
  let said = "";
  stderr.on("data", (chunk: Buffer) => {
    if (said.length < maxErrorChars) said += chunk.toString("utf8");
  });
  let isHeard = false;
  stdout.prependListener("data", () => {
    isHeard = true;
  });
  const errors = new PassThrough();
  const output = new PassThrough();
  output.end();
  const { promise: exited, resolve } = Promise.withResolvers<GuestExit>();
  child.once("close", (code, signal) => {
    use.stop();
    // Before its first frame it is why a guest could not be started.
    errors.end(isHeard ? "" : said.slice(0, 400));
    resolve({ code: code ?? undefined, signal: signal ?? undefined, outOfMemory: code !== 0 && outOfMemory.test(said) });
  });
  const signalGuest = (signal: NodeJS.Signals): void => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  };
  return { stdout: output, stderr: errors, frames: stdout, commands: stdin, exited, use: () => use.use(), interrupt: () => signalGuest("SIGINT"), kill: () => signalGuest("SIGKILL") };
}
