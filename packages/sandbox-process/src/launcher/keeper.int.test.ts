import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { keeperOf, keeperScript } from "./keeper.ts";

/** Processes of a group that live; one that only waits to be asked how it ended does not. */
function living(pids: readonly number[]): number[] {
  return pids.filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
    } catch {
      return false;
    }
  });
}

test.skipIf(process.platform !== "linux")("a keeper that is itself killed leaves nothing that goes on for ever", async () => {
  const child = spawn("/bin/sh", ["-c", keeperScript({ whenGone: ":", atEnd: ":" }), "sh", "/bin/sleep", "1"], { stdio: ["ignore", "ignore", "ignore", "ignore", "ignore", "pipe"] });
  const keeper = keeperOf(child);
  keeper.begin();
  const childrenOf = (): number[] => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  while (childrenOf().length < 2) await pause(5);
  const kept = childrenOf();
  child.kill("SIGKILL");
  keeper.leave();
  for (const untilMs = performance.now() + 20_000; living(kept).length > 0 && performance.now() < untilMs; ) await pause(50);
  expect(living(kept)).toEqual([]);
});
