import { readdirSync, readFileSync } from "node:fs";

/**
 * Ids of other processes of this machine whose command line holds a text (arguments end with NUL each). None off Linux.
 * Tests run beside each other: ask for a text that no other test uses.
 */
export function processesNamed(text: string): readonly string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "latin1").includes(text);
    } catch {
      return false; // It ended while we looked.
    }
  });
}
