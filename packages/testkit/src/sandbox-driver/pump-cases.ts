import { deepStrictEqual, ok } from "node:assert/strict";
import type { GuestCall } from "@callgate/contract";
import { encodeValue } from "@callgate/contract";
import type { DriverCase } from "./driver-case.ts";
import { defaultStartMs, startProgram, valueOf } from "./guest-harness.ts";

const argsOf = (call: GuestCall | undefined): unknown => (call !== undefined && call.kind !== "timer" ? JSON.parse(call.args.json) : call);

const twoBranches = `
  const branch = async (name) => { const first = await tools.demo.echo({ name, step: 1 }); await tools.demo.echo({ name, step: 2, got: first }); };
  await Promise.all([branch("a"), branch("b")]);
  return "done"`;

export const pumpCases: readonly DriverCase[] = [
  {
    name: "calls arrive in issue order and seq counts them without a gap, timers and built-ins too",
    needs: "replayable",
    async run({ driver }) {
      const run = startProgram(driver, `tools.demo.echo({ n: 0 }); setTimeout(() => {}, 7); tools.search("x", { limit: 2 }); tools.describe("demo.echo"); results.read("result://a/1", { path: "/x" }); await tools.demo.echo({ n: 5 })`, { byHand: true });
      await run.issued(6);
      deepStrictEqual(run.calls.map((call) => call.seq), [0, 1, 2, 3, 4, 5]);
      deepStrictEqual(run.calls.map((call) => (call.kind === "tool" ? call.tool : call.kind === "builtin" ? call.name : call.delayMs)), ["demo.echo", 7, "search", "describe", "read_result", "demo.echo"]);
      deepStrictEqual(run.calls.slice(2, 5).map(argsOf), [{ limit: 2, query: "x" }, { names: ["demo.echo"] }, { path: "/x", handle: "result://a/1" }]);
      run.run.cancel();
      await run.ended;
    },
  },
  {
    name: "completions of one delivery are taken one at a time, in order, the guest running until it blocks between two",
    async run({ driver }) {
      const run = startProgram(driver, twoBranches, { byHand: true });
      await run.issued(2);
      run.run.deliver([1, 0].map((seq, index) => ({ seq, atMs: defaultStartMs + index, result: { kind: "value", value: encodeValue(`r${seq}`) } })));
      await run.issued(4);
      deepStrictEqual(run.calls.slice(2).map(argsOf), [{ name: "b", step: 2, got: "r1" }, { name: "a", step: 2, got: "r0" }]);
      run.answer(2, null);
      run.answer(3, null);
      deepStrictEqual((await run.ended).kind, "returned");
    },
  },
  {
    name: "a stretch is acknowledged after its calls, also when it issues none",
    needs: "replayable",
    async run({ driver }) {
      const run = startProgram(driver, `await Promise.all([tools.demo.echo(1), tools.demo.echo(2)]); return 1`, { byHand: true });
      await run.issued(2);
      await new Promise((resolve) => setTimeout(resolve, 20));
      deepStrictEqual(run.blocked, [0]);
      run.answer(1, null);
      while (run.blocked.length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
      deepStrictEqual(run.blocked, [0, 1]);
      run.answer(0, null);
      deepStrictEqual((await run.ended).kind, "returned");
    },
  },
  {
    name: "code-mode 8: the same program, seed, clock and completions give the same calls, whatever the real latencies",
    needs: "replayable",
    timeoutMs: 60_000,
    async run({ driver }) {
      const program = `const out = []; await Promise.all(Array.from({ length: 20 }, async (_, i) => { const r = await tools.demo.echo({ i, random: Math.random() }); out.push([r.i, Date.now(), Math.random()]); await tools.demo.echo({ after: r.i }); })); return [out, crypto.randomUUID()]`;
      const order = Array.from({ length: 20 }, (_, index) => (index * 7) % 20);
      const once = async (pauseAt: number): Promise<unknown> => {
        const run = startProgram(driver, program, { byHand: true });
        await run.issued(20);
        for (const [index, seq] of order.entries()) {
          if (index === pauseAt) await new Promise((resolve) => setTimeout(resolve, 3));
          run.answer(seq, argsOf(run.calls[seq]), defaultStartMs + index * 10);
        }
        await run.issued(40);
        for (let seq = 20; seq < 40; seq++) run.answer(seq, null, defaultStartMs + 1_000 + seq);
        return [run.calls, await run.ended];
      };
      const first = await once(0);
      for (let round = 1; round < 50; round++) deepStrictEqual(await once(round % 20), first);
    },
  },
  {
    name: "the guest's clock is startMs, then the time of the last delivered completion, in every form of Date",
    needs: "replayable",
    async run({ driver }) {
      const run = startProgram(driver, `const a = [Date.now(), +new Date(), new Date().toISOString(), Date(), new Date().getTimezoneOffset()]; await tools.demo.echo(1); for (let i = 0; i < 1e5; i++); return [a, Date.now(), new Date().toISOString(), Date()]`, { byHand: true, startMs: 1_000 });
      await run.issued(1);
      run.answer(0, null, 86_400_000);
      const end = await run.ended;
      ok(end.kind === "returned");
      deepStrictEqual(JSON.parse(end.value.json), [[1000, 1000, "1970-01-01T00:00:01.000Z", "Thu Jan 01 1970 00:00:01 GMT+0000", 0], 86_400_000, "1970-01-02T00:00:00.000Z", "Fri Jan 02 1970 00:00:00 GMT+0000"]);
    },
  },
  {
    name: "random numbers come from the seed alone",
    needs: "replayable",
    async run({ driver }) {
      const program = `return [Math.random(), Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(8))]]`;
      const first = await valueOf(driver, program);
      deepStrictEqual(await valueOf(driver, program), first);
      const other = await valueOf(driver, program, { seed: "ffeeddccbbaa99887766554433221100" });
      ok(JSON.stringify(other) !== JSON.stringify(first));
    },
  },
  {
    name: "timers are calls: they fire when answered, clearTimeout keeps them from it, an interval asks again",
    needs: "replayable",
    async run({ driver }) {
      const run = startProgram(driver, `const log = []; const dropped = setTimeout(() => log.push("dropped"), 1); clearTimeout(dropped); await new Promise((resolve) => { let n = 0; const id = setInterval((x) => { log.push(x + n); n += 1; if (n === 3) { clearInterval(id); resolve(); } }, 5, "tick"); }); return log`, { byHand: true });
      await run.issued(2);
      deepStrictEqual(run.calls.map((call) => call.kind === "timer" && call.delayMs), [1, 5]);
      run.answer(0, undefined);
      run.answer(1, undefined);
      await run.issued(3);
      run.answer(2, undefined);
      await run.issued(4);
      run.answer(3, undefined);
      const end = await run.ended;
      ok(end.kind === "returned");
      deepStrictEqual(JSON.parse(end.value.json), ["tick0", "tick1", "tick2"]);
      deepStrictEqual(run.calls.length, 4);
    },
  },
  {
    name: "calls are really concurrent: twenty at once are all issued before the first is answered",
    async run({ driver }) {
      const run = startProgram(driver, `return (await Promise.all(Array.from({ length: 20 }, (_, i) => tools.demo.echo({ i })))).length`, { byHand: true });
      await run.issued(20);
      for (let seq = 19; seq >= 0; seq--) run.answer(seq, null);
      const end = await run.ended;
      ok(end.kind === "returned" && end.value.json === "20");
    },
  },
  {
    name: "an un-awaited call is issued; work after the program's value is not executed",
    needs: "replayable",
    async run({ driver }) {
      const run = startProgram(driver, `tools.demo.echo({ n: 1 }); setTimeout(() => tools.demo.echo({ n: 2 }), 0); Promise.resolve().then(() => tools.demo.echo({ n: 3 })); return "value"`, { byHand: true });
      const end = await run.ended;
      ok(end.kind === "returned" && end.value.json === '"value"');
      run.answer(1, undefined);
      await new Promise((resolve) => setTimeout(resolve, 30));
      deepStrictEqual(run.calls.map((call) => (call.kind === "timer" ? "timer" : argsOf(call))), [{ n: 1 }, "timer"]);
      deepStrictEqual(run.lateCalls, []);
    },
  },
  {
    name: "a completion for a call that was not issued is a fault of the host and ends the guest as crashed",
    async run({ driver }) {
      const run = startProgram(driver, `await tools.demo.echo(1)`, { byHand: true });
      await run.issued(1);
      run.answer(5, null);
      deepStrictEqual((await run.ended).kind, "crashed");
      run.answer(0, null);
    },
  },
];
