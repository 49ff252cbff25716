import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Launcher } from "../launcher/launcher.ts";

/** One wall, tried for real on this host. */
export interface WallCheck {
  readonly wall: string;
  readonly state: "holds" | "open";
  /** What was tried and what came of it. */
  readonly found: string;
}

interface Attempt {
  readonly wall: string;
  /** Shell text that prints OPEN and why when it gets through, HOLDS and why when it does not. */
  readonly script: (canary: string) => string;
}

const bounds = { memoryMiB: 64, processes: 32, workspaceMiB: 8, workspaceFiles: 256, openFiles: 64 };

const attempts: readonly Attempt[] = [
  { wall: "files of the host", script: (canary) => `if cat '${canary}' >/dev/null 2>&1 || ls ${homedir()} >/dev/null 2>&1; then echo OPEN a file of the host can be read; else echo HOLDS files and home of the user are not there; fi` },
  { wall: "changes to the system", script: () => "if touch /usr/callgate-test /callgate-test 2>/dev/null; then echo OPEN /usr or / can be written; else echo HOLDS / and /usr are read-only; fi" },
  { wall: "kernel settings", script: () => "if (: >>/proc/sys/kernel/core_pattern) 2>/dev/null; then echo OPEN /proc/sys can be written; else echo HOLDS /proc/sys is read-only; fi" },
  { wall: "network", script: () => "n=$(tail -n +3 /proc/net/dev | grep -vc ' lo:'); if [ \"$n\" -gt 0 ]; then echo OPEN $n interfaces; else echo HOLDS no interface but a loopback of its own; fi" },
  { wall: "processes of the host", script: () => "n=$(ls /proc | grep -c '^[0-9]'); if [ \"$n\" -gt 12 ]; then echo OPEN $n processes are seen; else echo HOLDS only its own processes are seen; fi" },
  { wall: "privileges", script: () => "if grep -q '^CapEff:.*[1-9a-f]' /proc/self/status || ! grep -q '^NoNewPrivs:.*1' /proc/self/status; then echo OPEN capabilities or new privileges; else echo HOLDS no capability, no new privileges; fi" },
  { wall: "system calls", script: () => "if unshare -U true 2>/dev/null; then echo OPEN a namespace can be made; elif grep -q '^Seccomp:.*2' /proc/self/status; then echo HOLDS the filter is on; else echo OPEN no filter; fi" },
  { wall: "environment", script: () => "if tr '\\0' '\\n' </proc/1/environ 2>/dev/null | grep -q CALLGATE_CANARY; then echo OPEN the launcher\\'s environment can be read; elif env | grep -q CALLGATE_CANARY; then echo OPEN it has the host\\'s environment; else echo HOLDS nothing of the host\\'s environment; fi" },
  { wall: "memory of a process", script: () => "if head -c 200m /dev/zero | tail -c 200m >/dev/null 2>&1; then echo OPEN 200 MiB with a bound of 64; else echo HOLDS ends at its bound; fi" },
  { wall: "number of processes", script: () => "i=0; while [ $i -lt 100 ]; do (sleep 5 &) 2>/dev/null || break; i=$((i+1)); done; if [ $i -ge 100 ]; then echo OPEN 100 processes with a bound of 32; else echo HOLDS ends at its bound; fi" },
  { wall: "bytes on disk", script: () => "if head -c 20m /dev/zero >fill 2>/dev/null; then echo OPEN 20 MiB with a bound of 8; else echo HOLDS ends at its bound; fi" },
  { wall: "number of files", script: () => "i=0; while [ $i -lt 400 ]; do (: >f$i) 2>/dev/null || break; i=$((i+1)); done; if [ $i -ge 400 ]; then echo OPEN 400 files with a bound of 256; else echo HOLDS ends at its bound; fi" },
];

/**
 * Tries to get through each wall of a launcher, from inside, one guest a wall. A launcher must be `ready`.
 * Cost: a dozen short processes. The host's file and variable it looks for are made for it, and removed.
 */
export async function checkWalls(launcher: Launcher): Promise<readonly WallCheck[]> {
  const folder = mkdtempSync(join(tmpdir(), "callgate-doctor-"));
  const canary = join(folder, "canary");
  writeFileSync(canary, "canary");
  const had = process.env["CALLGATE_CANARY"];
  process.env["CALLGATE_CANARY"] = "canary";
  try {
    const checks: WallCheck[] = [];
    for (const { wall, script } of attempts) checks.push(await attempt(launcher, wall, script(canary)));
    return checks;
  } finally {
    if (had === undefined) delete process.env["CALLGATE_CANARY"];
    else process.env["CALLGATE_CANARY"] = had;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function attempt(launcher: Launcher, wall: string, script: string): Promise<WallCheck> {
  const guest = launcher.launch({ command: ["/bin/sh", "-c", `trap 'kill 0' EXIT; ${script}`], environment: {}, bounds, mounts: [] });
  const patience = setTimeout(() => guest.kill(), 30_000);
  const [said] = await Promise.all([text(guest.stdout), text(guest.stderr), guest.exited]);
  clearTimeout(patience);
  const line = /^(OPEN|HOLDS) (.*)$/m.exec(said);
  // A guest that said nothing proves nothing.
  return { wall, state: line?.[1] === "HOLDS" ? "holds" : "open", found: line?.[2] ?? "the attempt said nothing, so nobody can tell" };
}
