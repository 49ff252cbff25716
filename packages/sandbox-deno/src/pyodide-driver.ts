import type { SandboxDriver } from "@callgate/contract";
import { createProcessDriver } from "@callgate/sandbox-process";
import type { DenoDriverOptions } from "./deno-driver.ts";
import { createPyodideLauncher } from "./pyodide/pyodide-launcher.ts";
import type { PyodideLauncherOptions } from "./pyodide/pyodide-launcher.ts";

/** `maxGuests` is 2 by default: each takes 170 to 210 MB. */
export interface PyodideDriverOptions extends PyodideLauncherOptions, DenoDriverOptions {}

/**
 * Python out of npm, on every operating system: CPython as WebAssembly, in a process of Deno without permissions for each
 * run. The whole standard library is there but what needs processes, threads or sockets; `open` works on files in memory.
 *
 * The guest is the one of real CPython: `tools`, values, output, files of `out/` are the same. `time.sleep` and event loops
 * wait on the host and cost no CPU. Not replayable: its clock is the real one.
 *
 * The first run on a machine makes a snapshot in `cacheFolder` (31 MB, some seconds); starts from it take a third of a
 * second. Python's hash seed is that of the snapshot: drawn anew on each machine, the same in each run.
 *
 * Throws `CallgateError` CONFIG_INVALID for wrong options. Where something is missing, runs end `crashed` with the fix.
 */
export function createPyodideDriver({ cacheFolder, wheels, ...options }: PyodideDriverOptions): SandboxDriver {
  return createProcessDriver({
    launcher: createPyodideLauncher({ cacheFolder, ...(wheels === undefined ? {} : { wheels }) }),
    languages: [{ language: "python", kind: "framed", command: ["pyodide"], environment: {}, growthMiB: 64, lowersMemory: true }],
    maxGuests: 2,
    bounds: { workspaceMiB: 0 },
    ...options,
  });
}
