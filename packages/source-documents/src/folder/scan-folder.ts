import { lstat, opendir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { FolderRules } from "./folder-rules.ts";

/** A file as it lies there. */
export interface FoundFile {
  /** Within the folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

export interface FolderScan {
  /** The folder without links, from the root of the file system. */
  readonly root: string;
  /** By path in ascending order. */
  readonly files: readonly FoundFile[];
  /** For people, each with its place. */
  readonly problems: readonly string[];
}

const maxDepth = 32;

/**
 * Finds the documents of a folder. Links are not followed, neither to files nor to folders; the folder itself may be one.
 * Rejects where the folder cannot be listed; a folder within that cannot be is a problem.
 */
export async function scanFolder(folder: string, rules: FolderRules, maxFiles: number): Promise<FolderScan> {
  const root = await realpath(folder);
  const files: FoundFile[] = [];
  const problems: string[] = [];
  const open = [""];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    try {
      for await (const entry of await opendir(join(root, at))) {
        const path = at === "" ? entry.name : `${at}/${entry.name}`;
        if (entry.isDirectory() && path.split("/").length < maxDepth && rules.isEntered(path)) open.push(path);
        if (!entry.isFile() || !rules.isDocument(path)) continue;
        const { size, mtimeMs } = await lstat(join(root, path));
        files.push({ path, bytes: size, modifiedMs: mtimeMs });
      }
    } catch (fault) {
      if (at === "") throw fault;
      problems.push(`${at}: the folder cannot be listed (${fault instanceof Error && "code" in fault ? String(fault.code) : "unknown"})`);
    }
    if (files.length > maxFiles) {
      problems.push(`there are more than ${maxFiles} documents; the rest is left out. Name fewer with include, or raise maxFiles`);
      break;
    }
  }
  return { root, files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)).slice(0, maxFiles), problems };
}
