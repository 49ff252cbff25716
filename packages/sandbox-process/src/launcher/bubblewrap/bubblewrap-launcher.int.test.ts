import { spawnSync } from "node:child_process";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { processesNamed } from "@callgate/testkit";
import { createBubblewrapLauncher } from "./bubblewrap-launcher.ts";

const launcher = createBubblewrapLauncher();
const probe = await launcher.probe();
/** Stands in the command line of every process of these guests. */
const mark = `60${process.pid}`;
const bounds = { memoryMiB: 64, processes: 16, workspaceMiB: 8, workspaceFiles: 256, openFiles: 32 };

/** Whether a guest is gone that was killed so long after its start. */
async function isGoneAfter(delayMs: number): Promise<boolean> {
  const guest = launcher.launch({ command: ["/bin/sh", "-c", `sleep ${mark}`], environment: {}, bounds, mounts: [] });
  for (const stream of [guest.stdout, guest.stderr, guest.frames]) stream.resume();
  const untilMs = performance.now() + delayMs;
  while (performance.now() < untilMs) await setImmediate();
  guest.kill();
  return await Promise.race([guest.exited.then(() => true), sleep(20_000, false, { ref: false })]);
}

describe.skipIf(probe.kind !== "ready")(`createBubblewrapLauncher${probe.kind === "ready" ? "" : ` (skipped: ${probe.reason}; ${probe.fix})`}`, () => {
  test("a guest that is killed while it is being set up is gone, whatever step it had come to", { timeout: 120_000 }, async () => {
    // Steps take longer on a busy machine: some delays are for an idle one, some for that.
    const lane = async (at: number): Promise<boolean[]> => {
      const gone: boolean[] = [];
      for (let round = 0; round < 30; round++) gone.push(await isGoneAfter((round * 4 + at) * (round % 2 === 0 ? 0.1 : 0.4)));
      return gone;
    };
    expect((await Promise.all([0, 1, 2, 3].map(lane))).flat().filter((isGone) => !isGone)).toEqual([]);
    expect(processesNamed(mark)).toEqual([]);
  });

  test("launchers of one process, one after the other and at once, do not disturb each other", { timeout: 120_000 }, async () => {
    const ends: unknown[] = [];
    for (let round = 0; round < 6; round++) {
      ends.push(...(await Promise.all(Array.from({ length: 4 }, async () => {
        const guest = createBubblewrapLauncher().launch({ command: ["/bin/sh", "-c", "exit 5"], environment: {}, bounds, mounts: [] });
        for (const stream of [guest.stdout, guest.stderr, guest.frames]) stream.resume();
        return (await guest.exited).code;
      }))));
    }
    expect(ends).toEqual(Array.from({ length: 24 }, () => 5));
  });

  test("a guest that ended by itself has taken with it what it left in the background", { timeout: 120_000 }, async () => {
    const left: string[] = [];
    for (let round = 0; round < 15; round++) {
      const guest = launcher.launch({ command: ["/bin/sh", "-c", `for i in 1 2 3 4 5 6; do setsid sleep 61${mark} >/dev/null 2>&1 & done; exit 0`], environment: {}, bounds, mounts: [] });
      for (const stream of [guest.stdout, guest.stderr, guest.frames]) stream.resume();
      await guest.exited;
      left.push(...processesNamed(`sleep\u000061${mark}`));
    }
    expect(left).toEqual([]);
  });
});

describe.skipIf(process.platform !== "linux")("createBubblewrapLauncher where namespaces are forbidden", () => {
  test("an ordinary user is told what to set, without a path of the host but those of the settings", async (context) => {
    // Forbidden for a namespace of the test's own, in which an ordinary user then asks.
    const ask = `import { createBubblewrapLauncher } from ${JSON.stringify(new URL("./bubblewrap-launcher.ts", import.meta.url).pathname)}; process.stdout.write(JSON.stringify(await createBubblewrapLauncher().probe()));`;
    const { status, stdout } = spawnSync("unshare", ["--user", "--map-root-user", "sh", "-c", 'echo 1 >/proc/sys/user/max_user_namespaces && exec unshare --user --map-user=1234 "$@"', "sh", process.execPath, "--input-type=module", "-e", ask], { encoding: "utf8", timeout: 60_000 });
    if (status !== 0) return context.skip("needs unshare and user namespaces, to forbid them");
    const said = JSON.parse(stdout) as { readonly kind: string; readonly reason?: string; readonly fix?: string };
    expect(said).toMatchObject({ kind: "unavailable", fix: expect.stringContaining("max_user_namespaces") });
    expect(said.reason).not.toMatch(/(^|[\s'"])\//);
    return undefined;
  });
});
