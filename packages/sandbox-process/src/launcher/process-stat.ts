import { readFileSync } from "node:fs";

/** What /proc/PID/stat says of a process. */
export interface ProcessStat {
  /** Dead, whether or not somebody has asked how it ended. The kernel ends all others of a pid namespace before its first process is. */
  readonly isDead: boolean;
  /** Start time in clock ticks since boot, which tells a pid that is used again. */
  readonly born: string;
  /** Of the process and of its children that ended. */
  readonly cpuTicks: number;
  readonly pages: number;
}

/** Undefined where there is no such process, or no /proc. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name, field 2, may hold anything, brackets too. `fields` starts at the third.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "X"] = fields;
    // utime, stime, cutime and cstime are fields 14 to 17 of the file, the start time is 22, rss 24.
    const cpuTicks = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
    return { isDead: state === "Z" || state === "X", born: fields[19] ?? "", cpuTicks, pages: Number(fields[21] ?? 0) };
  } catch {
    return undefined; // It is gone.
  }
}
