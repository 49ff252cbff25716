import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { processesNamed } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { createUnsafeLocalLauncher } from "./local/local-launcher.ts";
import { testLaunchers } from "../fixtures/launchers.ts";

const hostToKill = fileURLToPath(new URL("../fixtures/host-to-kill.ts", import.meta.url));

/** What is left of the guests of a host that was killed so long after it began to start them. */
async function leftAfter(kind: string, delayMs: number): Promise<readonly string[]> {
  const mark = `7${process.pid}${Math.trunc(delayMs * 10)}`;
  const host = spawn(process.execPath, [hostToKill, kind, mark, `${delayMs % 7}`], { stdio: ["ignore", "pipe", "inherit"] });
  await once(host.stdout, "data");
  await sleep(delayMs);
  host.kill("SIGKILL");
  await once(host, "exit");
  // A busy machine takes its time; what stays for ever is what counts.
  for (let round = 0; round < 150 && processesNamed(`${mark}`).length > 0; round++) await sleep(200);
  const left = processesNamed(mark);
  for (const pid of left) process.kill(Number(pid), "SIGKILL");
  return left;
}

test("folders of a killed host are removed by the next launcher; those of a living one stay", async () => {
  const dead = spawn("true");
  await once(dead, "exit");
  const [left, used] = [dead.pid, process.pid].map((pid) => mkdtempSync(join(tmpdir(), `callgate-local-${pid}-`)));
  const guest = createUnsafeLocalLauncher().launch({ command: ["true"], environment: {}, bounds: { memoryMiB: 64, processes: 16, workspaceMiB: 8, workspaceFiles: 64, openFiles: 32 }, mounts: [] });
  for (const stream of [guest.stdout, guest.stderr, guest.frames]) stream.resume();
  expect(await guest.exited).toMatchObject({ code: 0 });
  expect([left, used].map((folder) => existsSync(folder ?? ""))).toEqual([false, true]);
  rmSync(used ?? "", { recursive: true });
});

for (const { name, skip } of (await testLaunchers()).filter((launcher) => launcher.name !== "remote")) {
  describe.skipIf(skip !== undefined || process.platform !== "linux")(`guests of a host that is killed, in ${name}${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
    test("are gone, whatever step of their set-up they had come to, and what they had left in the background too", { timeout: 240_000 }, async () => {
      const kind = name === "bubblewrap" ? "bubblewrap" : "local";
      const left: string[] = [];
      for (const delayMs of [1, 4, 9, 17, 26, 40, 65, 110]) left.push(...(await leftAfter(kind, delayMs)));
      expect(left).toEqual([]);
    });
  });
}
