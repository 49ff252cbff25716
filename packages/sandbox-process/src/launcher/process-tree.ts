import { readdirSync, readFileSync } from "node:fs";
import type { ResourceUse } from "./launcher.ts";
import { readProcessStat } from "./process-stat.ts";

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
    const stat = readProcessStat(pid);
    if (stat === undefined) continue;
    ticks += stat.cpuTicks;
    pages += stat.pages;
    seen += 1;
  }
  return seen === 0 ? undefined : { cpuMs: (ticks * 1000) / ticksPerSecond, memoryMiB: pages * pageMiB };
}
