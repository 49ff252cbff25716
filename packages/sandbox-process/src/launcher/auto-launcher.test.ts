import { describe, expect, test } from "vitest";
import { createAutoLauncher } from "./auto-launcher.ts";
import type { Launcher, LauncherProbe } from "./launcher.ts";

const spec = { command: ["true"], environment: {}, bounds: { memoryMiB: 1, processes: 1, workspaceMiB: 1, workspaceFiles: 1, openFiles: 1 }, mounts: [] };

function launcher(name: string, probe: LauncherProbe, log: string[]): Launcher {
  return {
    name,
    probe: () => Promise.resolve((log.push(`probe ${name}`), probe)),
    launch() {
      throw new Error(`launched by ${name}`);
    },
    close: () => Promise.resolve(void log.push(`close ${name}`)),
  };
}

const unavailable = (what: string): LauncherProbe => ({ kind: "unavailable", reason: `no ${what}`, fix: `install ${what}` });
const ready: LauncherProbe = { kind: "ready", missing: ["a bit"] };

describe("createAutoLauncher", () => {
  test("takes the first that works, asks none after it, and goes by its name", async () => {
    const log: string[] = [];
    const auto = createAutoLauncher([launcher("a", unavailable("a"), log), launcher("b", ready, log), launcher("c", ready, log)]);
    expect(auto.name).toBe("auto");
    expect(() => auto.launch(spec)).toThrow(/No sandbox works/);
    expect([await auto.probe(), await auto.probe()]).toEqual([ready, ready]);
    expect(auto.name).toBe("b");
    expect(() => auto.launch(spec)).toThrow("launched by b");
    await auto.close?.();
    expect(log).toEqual(["probe a", "probe b", "close a", "close b", "close c"]);
  });

  test("none: every reason with its fix, and nothing is started", async () => {
    const auto = createAutoLauncher([launcher("a", unavailable("x"), []), launcher("b", unavailable("y"), [])]);
    expect(await auto.probe()).toEqual({ kind: "unavailable", reason: "a: no x; b: no y", fix: "for a, install x; or for b, install y" });
    expect(() => auto.launch(spec)).toThrow(/No sandbox works/);
  });
});
