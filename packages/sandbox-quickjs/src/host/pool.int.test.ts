import { decodeValue } from "@callgate/contract";
import { startProgram, valueOf } from "@callgate/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { createQuickJsDriver } from "../driver.ts";

/** One native operation of some ten seconds, in which the engine never asks whether to go on. */
const deafProgram = "const hay = 'a'.repeat(2e5); return hay.indexOf('a'.repeat(1e5) + 'b')";
/** Draws, prints and calls, so that a repetition that went another way would show. */
const steadyProgram = `const seen = []; for (let i = 0; i < 4; i++) { console.log("step", i); const { n } = await tools.demo.echo({ n: i, random: Math.random() }); seen.push(n, Date.now()); } return seen`;

describe("createPool", () => {
  const driver = createQuickJsDriver({ workers: 1 });
  afterAll(() => driver.close());

  test("code-mode 6: ends a guest that cannot be interrupted, and its neighbours go on as if nothing had been", async () => {
    const neighbours = Array.from({ length: 5 }, () => startProgram(driver, steadyProgram, { byHand: true }));
    for (const run of neighbours) {
      await run.issued(1);
      run.answer(0, { n: 0 }, 5_000);
      await run.issued(2);
    }
    const deaf = startProgram(driver, deafProgram, { limits: { cpuMs: 100 } });
    expect(await deaf.ended).toMatchObject({ kind: "limit", limit: "cpuMs", limitValue: 100 });
    for (const run of neighbours) {
      for (const seq of [1, 2, 3]) {
        await run.issued(seq + 1);
        run.answer(seq, { n: seq }, 5_000 + seq);
      }
      const end = await run.ended;
      expect(end.kind === "returned" && decodeValue(end.value)).toEqual([0, 5_000, 1, 5_001, 2, 5_002, 3, 5_003]);
      // Told once each, though the guest did it all twice.
      expect(run.calls.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
      expect(run.outputs.length).toBe(4);
      expect(run.blocked).toEqual([0, 1, 2, 3]);
    }
  });

  test("of many calls the first are heard while the guest goes on computing, each once and in order, the output between them", async () => {
    const body = `const all = []; for (let n = 0; n < 40; n++) { console.log("issued", n); all.push(tools.demo.echo(n)); } for (let i = 0; i < 4e9; i++); return (await Promise.all(all)).length`;
    const run = startProgram(driver, body, { byHand: true, limits: { cpuMs: 2_000 } });
    await run.issued(32);
    expect(run.blocked).toEqual([]);
    expect(run.outputs.length).toBeGreaterThanOrEqual(32);
    expect(await run.ended).toMatchObject({ kind: "limit", limit: "cpuMs" });
    expect(run.calls.map((call) => [call.seq, call.kind === "tool" && call.args.json])).toEqual(Array.from({ length: 40 }, (_, n) => [n, `${n}`]));
    expect(run.outputs.map((output) => output.kind === "console" && output.entry.text)).toEqual(Array.from({ length: 40 }, (_, n) => `issued ${n}`));
  });

  test("cancels a guest that cannot be interrupted, and one that waits behind it, within 500 ms", async () => {
    const behind = startProgram(driver, "await tools.demo.echo(1); return 1", { byHand: true });
    await behind.issued(1);
    const deaf = startProgram(driver, deafProgram);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const start = performance.now();
    behind.run.cancel();
    deaf.run.cancel();
    expect([await behind.ended, await deaf.ended]).toEqual([{ kind: "cancelled" }, { kind: "cancelled" }]);
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(await valueOf(driver, "return 1")).toBe(1);
  });

  test("moves guests that wait for a busy thread, and brings an answered one along", async () => {
    const waiting = startProgram(driver, steadyProgram, { byHand: true });
    await waiting.issued(1);
    const spinner = startProgram(driver, "for (;;);", { limits: { cpuMs: 1e9 } });
    await new Promise((resolve) => setTimeout(resolve, 30));
    for (const seq of [0, 1, 2, 3]) {
      await waiting.issued(seq + 1);
      waiting.answer(seq, { n: seq });
    }
    expect((await waiting.ended).kind).toBe("returned");
    expect(waiting.calls.length).toBe(4);
    spinner.run.cancel();
    expect(await spinner.ended).toEqual({ kind: "cancelled" });
  });

  test("bounds the guests under way and starts the rest as others end", async () => {
    const small = createQuickJsDriver({ workers: 1, maxGuests: 2 });
    const runs = Array.from({ length: 4 }, () => startProgram(small, "await tools.demo.echo(1); return 1", { byHand: true }));
    await Promise.all([runs[0]?.issued(1), runs[1]?.issued(1)]);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(runs.map(({ calls }) => calls.length)).toEqual([1, 1, 0, 0]);
    runs[3]?.run.cancel();
    expect(await runs[3]?.ended).toEqual({ kind: "cancelled" });
    runs[0]?.answer(0, 1);
    await runs[2]?.issued(1);
    await small.close();
  });
});
