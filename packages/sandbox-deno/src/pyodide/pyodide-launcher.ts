import type { LaunchedGuest, Launcher, LauncherProbe, LaunchSpec } from "@callgate/sandbox-process";
import { CallgateError } from "@callgate/contract";
import { createDenoLauncher } from "../launcher/deno-launcher.ts";
import { pyodideFiles } from "./pyodide-files.ts";
import type { PyodideFiles } from "./pyodide-files.ts";
import { ensureSnapshot } from "./snapshot.ts";

export interface PyodideLauncherOptions {
  /** Where the snapshot is kept: a folder of this user's cache. */
  readonly cacheFolder: string;
  /** Folder of wheels that programs can import: pure ones, or such as were built for this Pyodide. */
  readonly wheels?: string;
}

/** Without code from strings Python cannot have JavaScript evaluate text. */
const v8Flags = ["--disallow-code-generation-from-strings"];
/** WebAssembly's code and reservations come on top of Deno's own. */
const idleDataMiB = 704;
const buildBounds = { memoryMiB: 512, processes: 8, workspaceMiB: 0, workspaceFiles: 0, openFiles: 64 };
const guestFile = new URL("../../guests/pyodide.js", import.meta.url);

/**
 * Starts Python as WebAssembly in Deno. A guest may read its own files, and gives that up before a program runs. Its
 * start is from a snapshot in the cache folder, which the probe makes when it is not there; where it cannot, every guest
 * starts slowly.
 */
export function createPyodideLauncher({ cacheFolder, wheels = "" }: PyodideLauncherOptions): Launcher {
  const files = pyodideFiles();
  const name = "deno";
  let snapshot = "";
  let probing: Promise<LauncherProbe> | undefined;

  function start(task: "snapshot" | "run", spec: Omit<LaunchSpec, "command" | "guestFile">): LaunchedGuest {
    if (files === undefined) throw new CallgateError("DRIVER_FAILED", "The sandbox deno cannot run Python: the npm package pyodide is not installed");
    const [guest, platform] = files.python;
    const deno = createDenoLauncher({ name, v8Flags, idleDataMiB, reads: readsOf(files, [snapshot, wheels]) });
    return deno.launch({ ...spec, guestFile, command: ["{guest}", task, files.folder, guest, platform, snapshot, wheels] });
  }

  async function probe(): Promise<LauncherProbe> {
    const ready = await createDenoLauncher({ name }).probe();
    if (ready.kind === "unavailable") return ready;
    if (files === undefined) return { kind: "unavailable", reason: "the npm package pyodide is not installed", fix: "npm i @callgate/sandbox-deno" };
    try {
      snapshot = await ensureSnapshot(cacheFolder, files, () => start("snapshot", { environment: {}, bounds: buildBounds, mounts: [] }));
      return ready;
    } catch (fault) {
      const why = fault instanceof Error ? fault.message : String(fault);
      return { kind: "ready", missing: [...ready.missing, `Python starts slowly, without a snapshot in ${cacheFolder}: ${why}`] };
    }
  }

  return {
    name,
    probe() {
      probing ??= probe();
      return probing;
    },
    launch: (spec) => start("run", spec),
  };
}

function readsOf({ folder, python }: PyodideFiles, more: readonly string[]): readonly string[] {
  return [folder, ...python, ...more.filter((path) => path !== "")];
}
