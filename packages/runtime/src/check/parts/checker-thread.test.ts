import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import { superviseThread } from "./checker-thread.ts";
import { timedOutText } from "./time-bound.ts";

interface Ask {
  readonly kind: "spin" | "wait";
  readonly id: number;
  readonly ms: number;
}
interface Answer {
  readonly kind: "done";
  readonly id: number;
}

/** Computes, or waits without computing, for so long; then answers. */
const text = `
const { parentPort } = require("node:worker_threads");
parentPort.on("message", ({ kind, id, ms }) => {
  if (kind === "wait") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  else for (const end = process.cpuUsage().user + ms * 1000; process.cpuUsage().user < end; );
  parentPort.postMessage({ kind: "done", id });
});`;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
function start() {
  const thread = superviseThread<Ask, Answer>(new Worker(text, { eval: true }));
  ends.push(() => thread.end());
  return thread;
}

describe("superviseThread: time", { timeout: 60_000 }, () => {
  test("a thread that does not get to compute is not ended by the bound of computing", async () => {
    expect(await start().ask({ kind: "wait", ms: 1_500 }, { time: { cpuMs: 300, wallMs: 50_000 } })).toMatchObject({ kind: "done" });
  });

  test("a thread that computes is ended by that bound, and the text says so", async () => {
    const thread = start();
    const answer = await thread.ask({ kind: "spin", ms: 40_000 }, { time: { cpuMs: 300, wallMs: 50_000 } });
    expect(answer).toMatchObject({ kind: "timed_out", bound: "cpu", ms: 300 });
    expect(thread.isAlive).toBe(false);
    expect(answer.kind === "timed_out" && timedOutText(answer, "Make it shorter")).toBe("The program could not be checked within 0.3 s of computing. Make it shorter");
  });

  test("a thread that only waits is ended by the wall, and the text does not blame the program", async () => {
    const answer = await start().ask({ kind: "wait", ms: 40_000 }, { time: { cpuMs: 30_000, wallMs: 1_500 } });
    expect(answer).toMatchObject({ kind: "timed_out", bound: "wall", ms: 1_500 });
    // A thread that waits in native code cannot be asked; then nothing is said about it.
    expect(answer.kind === "timed_out" && timedOutText(answer, "Make it shorter")).toMatch(/^The check was not over after 1\.5 s[;,] .*Try again/);
  });

  test("the text tells a busy machine from a program that is too much", () => {
    expect(timedOutText({ kind: "timed_out", bound: "wall", ms: 60_000, usedCpuMs: 1_234 }, "Make it shorter")).toBe("The check was not over after 60 s, of which it could compute for 1.2 s: the machine is too busy, which says nothing about the program. Try again");
  });
});
