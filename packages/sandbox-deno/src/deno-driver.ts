import type { SandboxDriver } from "@callgate/contract";
import { createProcessDriver } from "@callgate/sandbox-process";
import { denoJavaScript, javaScriptWorld } from "./language/javascript-language.ts";
import { createDenoLauncher } from "./launcher/deno-launcher.ts";

export interface DenoDriverOptions {
  /** Programs under way at once; more wait in a queue. Default 16. */
  readonly maxGuests?: number;
  /** Engines kept ready for each language that was used. Default 1; 0 starts one for each run. */
  readonly warm?: number;
}

/** Deeper recursions end the run at `stackKiB`. V8 takes the bound when it starts, so it is the same for every run. */
const stackKiB = 256;

/**
 * JavaScript and TypeScript at V8 speed, in a process of Deno without permissions for each run.
 *
 * Replayable: a program sees the clock of its last completion and randomness of its seed, waits on timers of the host,
 * and has nothing that shows the garbage collector, a second thread or a real clock. What it may still tell apart is how
 * deep a recursion gets and when memory ends; a program whose calls depend on that diverges on replay, and is told so.
 *
 * Throws `CallgateError` CONFIG_INVALID for wrong options. Where Deno is not installed, runs end `crashed` with the fix.
 */
export function createDenoDriver(options: DenoDriverOptions = {}): SandboxDriver {
  return createProcessDriver({
    launcher: createDenoLauncher({ greeting: javaScriptWorld(), v8Flags: [`--stack-size=${stackKiB}`] }),
    languages: [denoJavaScript],
    replayable: true,
    bounds: { workspaceMiB: 0, artifacts: 0, artifactMiB: 0 },
    ...options,
  });
}
