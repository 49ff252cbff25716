// The scenarios of bench/side-by-side.mjs, the same text for every competitor. `run(code)` takes the body of an async
// function in which get({ n }) answers { n } and rows({ count }) answers that many records.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./median.ts";


async function timed(work) {
  const start = performance.now();
  const value = await work();
  return { ms: performance.now() - start, value };
}

function must(value, wanted) {
  if (value !== wanted) throw new Error(`wrong answer ${JSON.stringify(value)}, wanted ${wanted}`);
}

/** How long everyone may warm up: what is asked for is what a process that lives answers. */
const warmUpMs = 2_000;

async function medianRun(run, { code, wanted, times, pauseMs = 0 }) {
  const all = [];
  for (const until = performance.now() + warmUpMs; performance.now() < until; ) must(await run(code), wanted);
  for (let i = 0; i < times; i++) {
    if (pauseMs > 0) await sleep(pauseMs);
    const { ms, value } = await timed(() => run(code));
    must(value, wanted);
    all.push(ms);
  }
  return median(all);
}

/** Each answers milliseconds (or what its unit says); smaller is better. */
export const scenarios = {
  "warm run, back to back": { unit: "ms", measure: ({ run }) => medianRun(run, { code: "return 1 + 1", wanted: 2, times: 300 }) },
  "warm run, idle before it": { unit: "ms", measure: ({ run }) => medianRun(run, { code: "return 1 + 1", wanted: 2, times: 40, pauseMs: 25 }) },
  "run with 20 parallel calls": {
    unit: "ms",
    measure: ({ run }) => medianRun(run, { code: "const all = await Promise.all(Array.from({ length: 20 }, (_, n) => get({ n }))); return all.length", wanted: 20, times: 60 }),
  },
  "one of 1,000 sequential calls": {
    unit: "ms",
    measure: async ({ run }) => (await medianRun(run, { code: "let sum = 0; for (let n = 0; n < 1000; n++) sum += (await get({ n })).n; return sum", wanted: 499500, times: 5 })) / 1000,
  },
  "one of 1,000 parallel calls": {
    unit: "ms",
    measure: async ({ run }) =>
      (await medianRun(run, { code: "const all = await Promise.all(Array.from({ length: 1000 }, (_, n) => get({ n }))); return all.reduce((sum, one) => sum + one.n, 0)", wanted: 499500, times: 5 })) / 1000,
  },
  "200,000 rows aggregated": {
    unit: "ms",
    measure: ({ run }) =>
      medianRun(run, { code: "const all = await rows({ count: 200000 }); const by = {}; for (const row of all) by[row.group] = (by[row.group] ?? 0) + row.amount; return Object.keys(by).length", wanted: 7, times: 5 }),
  },
  "longest stall of the host while a guest spins 1 s": {
    unit: "ms",
    measure: async ({ spin }) => {
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      await Promise.race([spin(1_000).catch(() => undefined), sleep(15_000)]);
      await sleep(20);
      delay.disable();
      return delay.max / 1e6;
    },
  },
  "memory growth over 2,000 runs": {
    unit: "MiB",
    measure: async ({ run, elsewhere }) => {
      if (elsewhere) throw new Error("in another process");
      for (let i = 0; i < 300; i++) await run("return 1 + 1");
      globalThis.gc?.();
      const before = process.memoryUsage().rss;
      for (let i = 0; i < 2_000; i++) await run("return 1 + 1");
      globalThis.gc?.();
      return Math.max(0, process.memoryUsage().rss - before) / 1024 / 1024;
    },
  },
};
