import { deepStrictEqual, ok, throws } from "node:assert/strict";
import type { SandboxDriver } from "@callgate/contract";
import { CallgateError } from "@callgate/contract";
import type { DriverCase } from "./driver-case.ts";
import { jobFor, startProgram, valueOf } from "./guest-harness.ts";

const withHole = Object.assign([1], { 2: 3, length: 3 });

/** Values that must come out of a program, and of a tool, as they went in. Source text → what the host must see. */
const valueTable: readonly (readonly [source: string, value: unknown])[] = [
  ["null", null], ["undefined", undefined], ["true", true], ["-0", -0], ["NaN", Number.NaN], ["Infinity", Number.POSITIVE_INFINITY], ["-Infinity", Number.NEGATIVE_INFINITY],
  ["0.1 + 0.2", 0.1 + 0.2], ["1e21", 1e21], ["5e-324", 5e-324], ["9007199254740993n", 9_007_199_254_740_993n], ["-1234567890123456789n", -1_234_567_890_123_456_789n],
  ["'text \\u20ac \\u{1f600} \\u0000 \\ud800'", "text € 😀 \0 \ud800"], ["''", ""], ["new Date(1234)", new Date(1234)], ["new Date(NaN)", new Date(Number.NaN)],
  ["new Map([[1, 'a'], [{ k: 1 }, new Map()]])", new Map<unknown, unknown>([[1, "a"], [{ k: 1 }, new Map()]])], ["new Set([1, 'a', [2]])", new Set([1, "a", [2]])],
  ["new Uint8Array([0, 1, 255])", new Uint8Array([0, 1, 255])], ["new Float64Array([1.5, -0])", new Float64Array([1.5, -0])], ["new Uint8Array([1, 2]).buffer", new Uint8Array([1, 2]).buffer],
  ["[1, , 3]", withHole], ["[undefined, null]", [undefined, null]], ["{ a: undefined }", { a: undefined }], ["{ a: { b: [{ c: 1 }] } }", { a: { b: [{ c: 1 }] } }],
  ["{ $cg: 'date', v: 1 }", { $cg: "date", v: 1 }], ["{ 'a/b': 1, '': 2 }", { "a/b": 1, "": 2 }], ["JSON.parse('{\"__proto__\": {\"a\": 1}}')", JSON.parse('{"__proto__": {"a": 1}}')],
  ["Object.assign(new RangeError('m'), { code: 'C' })", Object.assign(new RangeError("m"), { code: "C" })],
];

/** Source text → code of the error that must name it. */
const unsupported: readonly string[] = ["() => 1", "Symbol('s')", "(() => { const a = {}; a.a = a; return a })()", "new (class Foo {})()", "/x/", "Promise.resolve(1)", "new WeakMap()"];

/** As close as `deepStrictEqual` comes: an error's stack is not a value. */
function sameValue(actual: unknown, expected: unknown, message: string): void {
  if (expected instanceof Error) {
    const { name, message: text, code } = actual as Error & { code?: string };
    deepStrictEqual({ name, text, code }, { name: expected.name, text: expected.message, code: (expected as { code?: string }).code }, message);
  } else deepStrictEqual(actual, expected, message);
}

export const valueCases: readonly DriverCase[] = [
  {
    name: "code-mode 13: values come out of a program unchanged, or not at all",
    timeoutMs: 60_000,
    async run({ driver }) {
      const values = (await valueOf(driver, `return [${valueTable.map(([source]) => source).join(", ")}]`)) as readonly unknown[];
      for (const [index, [source, value]] of valueTable.entries()) sameValue(values[index], value, source);
      for (const source of unsupported) {
        const end = await startProgram(driver, `return { x: [${source}] }`).ended;
        ok(source.startsWith("Promise") || (end.kind === "threw" && end.error.code === "VALUE_UNSUPPORTED" && end.error.message.includes("/x/0")), `${source} ended ${JSON.stringify(end)}`);
      }
    },
  },
  {
    name: "code-mode 13: values go to a tool and come back unchanged",
    timeoutMs: 60_000,
    async run({ driver }) {
      const seen: unknown[] = [];
      const tools = { "demo.echo": (args: unknown) => { seen.push((args as { x: unknown }).x); return seen.at(-1); } };
      const values = (await valueOf(driver, `const out = []; for (const make of [${valueTable.map(([source]) => `() => (${source})`).join(", ")}]) out.push(await tools.demo.echo({ x: make() })); return out`, { tools })) as readonly unknown[];
      for (const [index, [source, value]] of valueTable.entries()) {
        sameValue(values[index], value, source);
        sameValue(seen[index], value, source);
      }
      for (const source of unsupported) {
        const run = startProgram(driver, `try { await tools.demo.echo({ x: [${source}] }); return "sent" } catch (error) { return [error.code, error.tool, error.details.path] }`);
        const end = await run.ended;
        ok(end.kind === "returned", source);
        deepStrictEqual(JSON.parse(end.value.json), ["VALUE_UNSUPPORTED", "demo.echo", source.includes("a.a") ? "/x/0/a" : "/x/0"], source);
        deepStrictEqual(run.calls.length, 0);
      }
    },
  },
  {
    name: "code-mode 14: a large result is workable in the program",
    timeoutMs: 60_000,
    async run({ driver }) {
      const rows = Array.from({ length: 50_000 }, (_, id) => ({ id, region: `r${id % 7}`, amount: id % 100 }));
      const value = await valueOf(driver, `const rows = await tools.demo.rows({}); const sums = {}; for (const { region, amount } of rows) sums[region] = (sums[region] ?? 0) + amount; return [rows.length, Object.keys(sums).length]`, { tools: { "demo.rows": () => rows } });
      deepStrictEqual(value, [50_000, 7]);
    },
  },
  {
    name: "a result that does not fit the guest's memory is an error of the call, or the memory limit",
    timeoutMs: 180_000,
    async run({ driver }) {
      const rows = Array.from({ length: 400_000 }, (_, id) => ({ id, text: `row number ${id}` }));
      // A heap that is nearly full is swept again and again: time is not what is to end this.
      const end = await startProgram(driver, `try { return (await tools.demo.rows({})).length } catch (error) { return error.code }`, { tools: { "demo.rows": () => rows }, limits: { memoryMiB: 24, cpuMs: 120_000, wallMs: 150_000 } }).ended;
      ok((end.kind === "returned" && (end.value.json.includes("VALUE_TOO_LARGE") || end.value.json.includes("LIMIT_EXCEEDED"))) || (end.kind === "limit" && end.limit === "memoryMiB"), JSON.stringify(end));
      deepStrictEqual(await valueOf(driver, "return 1"), 1);
    },
  },
];

export const lifeCases: readonly DriverCase[] = [
  {
    name: "start may be called any number of times at once; what does not fit waits",
    needs: "replayable",
    timeoutMs: 60_000,
    async run({ driver }) {
      const values = await Promise.all(Array.from({ length: 300 }, (_, i) => valueOf(driver, `return (await tools.demo.echo({ i: ${i} })).i`)));
      deepStrictEqual(values, Array.from({ length: 300 }, (_, i) => i));
    },
  },
  {
    name: "code-mode 5: after 100 hung runs the next is good, and neither memory nor handles have grown",
    needs: "replayable",
    // A hundred processes, each held until its own computing time is up: what it waits for a processor does not count.
    timeoutMs: 600_000,
    async run({ driver }) {
      const hang = async (count: number): Promise<void> => {
        const runs = Array.from({ length: count }, () => startProgram(driver, `const kept = new Array(1e4).fill("x"); await tools.demo.echo({ n: 1 }); return kept.length`, { byHand: true }));
        // As many hang at once as the driver lets run; the others take their places.
        for (const hung of runs) {
          await hung.issued(1);
          hung.run.cancel();
          deepStrictEqual((await hung.ended).kind, "cancelled");
        }
      };
      await hang(100);
      const handles = process.getActiveResourcesInfo().length;
      const rss = process.memoryUsage.rss();
      await hang(100);
      await hang(100);
      deepStrictEqual(await valueOf(driver, "return 1"), 1);
      ok(process.getActiveResourcesInfo().length <= handles + 2, "handles grew");
      const grownMiB = (process.memoryUsage.rss() - rss) / 1024 / 1024;
      ok(grownMiB < 96, `memory grew by ${grownMiB} MiB over 200 hung runs`);
    },
  },
  {
    name: "close cancels every guest, may be repeated, and nothing starts after it",
    timeoutMs: 120_000,
    async run({ driver }) {
      const runs = ["await tools.demo.echo(1)", "while (true) {}", "await new Promise((resolve) => setTimeout(resolve, 1e6))"].map((body) => startProgram(driver, body, { byHand: true }));
      await runs[0]?.issued(1);
      await Promise.all([driver.close(), driver.close()]);
      for (const run of runs) deepStrictEqual((await run.ended).kind, "cancelled");
      throws(() => driver.start(jobFor("return 1"), { onCalls: () => {}, onOutput: () => {} }), (error) => CallgateError.is(error) && error.code === "CLOSED");
    },
  },
];

/** The driver's own word about itself. */
export function declares(driver: SandboxDriver): void {
  ok(driver.name.length > 0 && driver.languages.length > 0);
  ok(driver.limits.includes("cpuMs") && driver.limits.includes("memoryMiB"));
}
