import { readFileSync, statSync } from "node:fs";

/** SQLite's lock bytes in the -shm file start here; the first is the one a writer holds (https://sqlite.org/walformat.html). */
const WRITE_LOCK_OFFSET = 120;

/** Pid of the process that holds the write lock of the database at `path`. Linux only; undefined elsewhere or when unknown. */
export function findLockHolder(path: string): number | undefined {
  try {
    const inode = String(statSync(`${path}-shm`).ino);
    for (const line of readFileSync("/proc/locks", "utf8").split("\n")) {
      // "12: POSIX  ADVISORY  WRITE 4711 fd:00:131 120 120"
      const [, , , mode, pid, file, from, to] = line.trim().split(/\s+/);
      if (mode !== "WRITE" || file?.split(":")[2] !== inode) continue;
      if (Number(from) <= WRITE_LOCK_OFFSET && (to === "EOF" || Number(to) >= WRITE_LOCK_OFFSET)) return Number(pid);
    }
  } catch {
    // Another system, or the file is gone: the holder stays unknown.
  }
  return undefined;
}
