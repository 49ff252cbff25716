import type { ChildProcess } from "node:child_process";
import spawn from "cross-spawn";

/** A child process with everything it starts, ended as one. */
export interface ServerProcess {
  readonly child: ChildProcess;
  /** Resolves when it runs; rejects, after `exited`, when it could not be started. */
  readonly spawned: Promise<void>;
  /** Resolves when the child itself is gone: how it ended, in words. Never rejects. */
  readonly exited: Promise<string>;
  /** Asks it to end (stdin closed, then SIGTERM), then ends it and its descendants by force. Idempotent. */
  stop(): Promise<void>;
}

export interface ServerProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** How long stdin's end, and then SIGTERM, may take to work. */
  readonly graceMs: number;
}

/**
 * Starts a server with piped stdio, as the head of a process group of its own where the system has groups: `npx` and
 * `uvx` start the real server as a grandchild, which outlives a signal sent to the child alone.
 */
export function startServerProcess(options: ServerProcessOptions): ServerProcess {
  const grouped = process.platform !== "win32";
  const child = spawn(options.command, [...options.args], {
    env: { ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    detached: grouped,
    windowsHide: true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(startFailure(error as NodeJS.ErrnoException)));
    child.once("exit", (code, signal) => resolve(signal === null ? `it ended with exit code ${code ?? 0}` : `it was ended by ${signal}`));
  });
  const spawned = new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      exited.then(() => reject(error), reject);
    });
  });
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    child.stdin?.end();
    if (!(await within(exited, options.graceMs))) {
      signalTree(child, grouped, "SIGTERM");
      await within(exited, options.graceMs);
    }
    // Also after a clean exit of the child: what it left behind in its group must go.
    signalTree(child, grouped, "SIGKILL");
    await exited;
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  return { child, spawned, exited, stop: () => (stopping ??= stop()) };
}

function startFailure(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "the command was not found (not installed, not on PATH, or its cwd does not exist)";
  if (error.code === "EACCES") return "the command may not be executed (permission denied)";
  return `it could not be started (${error.code ?? error.message})`;
}

async function within(exited: Promise<unknown>, waitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs);
  });
  const result = await Promise.race([exited.then(() => true as const), late]);
  clearTimeout(timer);
  return result;
}

function signalTree(child: ChildProcess, grouped: boolean, signal: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  try {
    if (grouped) process.kill(-child.pid, signal);
    else if (child.exitCode === null) spawn("taskkill", ["/pid", String(child.pid), "/T", "/F"], { stdio: "ignore" }).once("error", () => child.kill(signal));
  } catch {
    // ESRCH: the whole group is gone already, which is what was wanted.
  }
}
