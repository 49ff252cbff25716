import { readdirSync, readFileSync } from "node:fs";
import type { ResourceUse } from "./launcher.ts";

/** USER_HZ, which Linux fixes for /proc at 100 on every architecture Node runs on. */
const ticksPerSecond = 100;
const pageMiB = 4_096 / 1024 / 1024;

/** A process and everything below it, as /proc shows them. Empty where there is no /proc or the process is gone. */
export function processTree(root: number): readonly number[] {
  const found = [root];
  for (const pid of found) {
    try {
      for (const task of readdirSync(`/proc/${pid}/task`)) {
        const children = readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").trim();
        if (children !== "") found.push(...children.split(" ").map(Number));
      }
    } catch {} // It ended while we looked.
  }
  return found;
}

/** CPU time and memory of some processes; children that ended count with who waited for them. */
export function useOf(pids: readonly number[]): ResourceUse | undefined {
  let ticks = 0;
  let pages = 0;
  let seen = 0;
  for (const pid of pids) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "latin1");
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number);
      // utime, stime, cutime, cstime are fields 14 to 17 of the file, rss is 24; `fields` starts at the third.
      for (let index = 11; index <= 14; index++) ticks += fields[index] ?? 0;
      pages += fields[21] ?? 0;
      seen += 1;
    } catch {}
  }
  return seen === 0 ? undefined : { cpuMs: (ticks * 1000) / ticksPerSecond, memoryMiB: pages * pageMiB };
}
