import { readdirSync } from "node:fs";
import type { Dirent } from "node:fs";

const maxModules = 2_000;

/** Names under which a program can import what lies in a folder: files `name.py`, folders that may be packages. */
export function modulesIn(folder: string): readonly string[] {
  return entriesOf(folder)
    .map((entry) => (entry.isDirectory() ? entry.name : /^(.+)\.py$/.exec(entry.name)?.[1]))
    .filter((name) => name !== undefined && /^[A-Za-z_]\w*$/.test(name))
    .map(String)
    .slice(0, maxModules);
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Not there (yet), or not readable: nothing of it can be imported.
  }
}
