import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processesNamed } from "./processes-named.ts";

/**
 * A folder for a server that a test starts, `PREFIX-PID-…`. What killed tests left of such is removed before: their folders,
 * what is mounted below them, and the servers that have them on their command line.
 *
 * @param within where it is made; default: the temporary folder
 */
export function makeOwnedFolder(prefix: string, within = tmpdir()): string {
  for (const name of readdirSync(within)) {
    const pid = new RegExp(`^${prefix}-(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) removeLeft(join(within, name));
  }
  return mkdtempSync(join(within, `${prefix}-${process.pid}-`));
}

/** Leftovers of a server that was killed keep its folder busy. */
export function unmountBelow(folder: string): void {
  if (process.platform !== "linux") return;
  const places = readFileSync("/proc/self/mounts", "utf8").split("\n").map((line) => line.split(" ")[1] ?? "").filter((place) => place.startsWith(`${folder}/`));
  for (const place of places.toSorted((a, b) => b.length - a.length)) execFileSync("umount", ["-l", place], { stdio: "ignore" });
}

function removeLeft(folder: string): void {
  try {
    for (const pid of processesNamed(`${folder}/`)) process.kill(Number(pid), "SIGKILL");
    unmountBelow(folder);
    rmSync(folder, { recursive: true, force: true });
  } catch {} // Another user's, or still busy: the next who looks removes it.
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code === "EPERM";
  }
}
