import { CallgateError } from "@callgate/contract";
import type { Launcher, LauncherProbe } from "./launcher.ts";

/**
 * The first of some launchers that works here; strongest first. Once it is probed its name is that of the one it took.
 * Where none works it is `unavailable` with the reason and the fix of each, and starts nothing.
 */
export function createAutoLauncher(launchers: readonly Launcher[]): Launcher {
  let taken: Launcher | undefined;
  let probing: Promise<LauncherProbe> | undefined;

  async function probe(): Promise<LauncherProbe> {
    const refused: { readonly name: string; readonly reason: string; readonly fix: string }[] = [];
    for (const launcher of launchers) {
      const said = await launcher.probe();
      if (said.kind === "ready") {
        taken = launcher;
        return said;
      }
      refused.push({ name: launcher.name, reason: said.reason, fix: said.fix });
    }
    return { kind: "unavailable", reason: refused.map(({ name, reason }) => `${name}: ${reason}`).join("; "), fix: refused.map(({ name, fix }) => `for ${name}, ${fix}`).join("; or ") };
  }

  return {
    get name() {
      return taken?.name ?? "auto";
    },
    get guestUser() {
      return taken?.guestUser;
    },
    probe: () => (probing ??= probe()),
    launch(spec) {
      if (taken === undefined) throw new CallgateError("DRIVER_FAILED", "No sandbox works here, or none was probed");
      return taken.launch(spec);
    },
    async close() {
      for (const launcher of launchers) await launcher.close?.();
    },
  };
}
