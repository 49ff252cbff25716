import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { GuestLanguage } from "./guest-language.ts";

/** V8 reserves this much of its process's data without using it: started with less it does not come up. Measured on Node 24. */
const reservedMiB = 640;

/**
 * JavaScript and TypeScript as the checker of TypeScript returns them, in real Node: its modules, files of the workspace,
 * processes, V8 at full speed. The interpreter is a Node of this host, 20.16 or newer.
 *
 * @param file the interpreter; default: the one that runs this process, or the first on PATH where a guest's user could
 *   not read that
 */
export function nodeLanguage(file: string = findNode()): GuestLanguage {
  return {
    language: "javascript",
    also: ["typescript", "node"],
    kind: "framed",
    command: ["{program}", "--max-old-space-size={memoryMiB}", "--disable-warning=ExperimentalWarning", "{guest}"],
    guestFile: new URL("../../guests/callgate-guest.mjs", import.meta.url),
    program: { name: "node", file },
    environment: {},
    reservedMiB,
    memoryReport: { starts: "\n<--- Last few GCs --->", says: "JavaScript heap out of memory" },
    session: "frames",
    // A block that waits ends by the frame. The signal is for one that computes: while a script begins or ends, Node has
    // no handler of ours for it.
    signalsMs: [60, 250, 1_000, 4_000],
  };
}

function findNode(): string {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
  const found = [process.execPath, ...onPath].filter((file) => isExecutable(file)).map((file) => realpathSync(file));
  return found.find((file) => isOpenToAll(file)) ?? process.execPath;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Root starts guests as a user without rights, who must get to the file. */
function isOpenToAll(file: string): boolean {
  if (process.getuid?.() !== 0) return true;
  for (let path = file; ; path = dirname(path)) {
    if ((statSync(path).mode & 0o1) === 0) return false;
    if (dirname(path) === path) return true;
  }
}
