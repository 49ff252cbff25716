import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createBubblewrapLauncher } from "./bubblewrap-launcher.ts";

const launcher = createBubblewrapLauncher();
const probe = await launcher.probe();
const bounds = { memoryMiB: 64, processes: 16, workspaceMiB: 8, workspaceFiles: 256, openFiles: 32 };

/** Whether a guest is gone that was killed so long after its start. */
async function isGoneAfter(delayMs: number): Promise<boolean> {
  const guest = launcher.launch({ command: ["/bin/sh", "-c", "sleep 60"], environment: {}, bounds, mounts: [] });
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
  });
});
