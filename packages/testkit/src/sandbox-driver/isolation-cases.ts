import { deepStrictEqual } from "node:assert/strict";
import type { SandboxDriver } from "@callgate/contract";
import type { DriverCase } from "./driver-case.ts";
import { startProgram, valueOf } from "./guest-harness.ts";

/** Programs that try to leave something behind for the next run. */
const hostilePrograms: readonly string[] = [
  "globalThis.leak = 1; return 1",
  "Object.prototype.leak = 1; Array.prototype.map = () => ['tainted']; return 1",
  "Promise.prototype.then = function () { return 1 }; return 1",
  "JSON.stringify = () => '\"forged\"'; JSON.parse = () => ({ forged: true }); return 1",
  "Object.defineProperty(Array.prototype, '0', { configurable: true, set() {}, get() { return 'leak' } }); return 1",
  "Math.random = () => 0.5; Date.now = () => 7; Date = class {}; return 1",
  "globalThis.console = { log() {} }; globalThis.setTimeout = undefined; return 1",
  "Function.prototype.call = function () { return 'leak' }; return 1",
  "String.prototype.split = () => ['leak']; RegExp.prototype.exec = () => ['leak']; return 1",
  "Error.prototype.toString = () => 'leak'; throw new Error('x')",
  "Object.freeze(Object.prototype); Object.freeze(globalThis); return 1",
  "await Promise.all([tools.demo.echo({ a: 1 }), new Promise(() => {})])",
  "setTimeout(() => { globalThis.leak = 1 }, 0); await new Promise((resolve) => setTimeout(resolve, 5)); return 1",
  "const kept = []; for (let i = 0; i < 20000; i++) kept.push({ leak: i }); globalThis.kept = kept; return kept.length",
  "(function f() { f() })()",
  "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(76))",
  "while (true) {}",
  "globalThis[Symbol.for('leak')] = 1; return Symbol.for('leak').description",
  "text('leak'); console.log('leak'); progress('leak'); return 'leak'",
  "structuredClone({ leak: 1 }); new URL('http://leak'); return (1).toLocaleString()",
];

/** What a program sees of the state before it; the same string in every clean run. */
const probe = `
  const own = (object) => Object.getOwnPropertyNames(object).concat(Object.getOwnPropertySymbols(object).map(String)).sort().join();
  const parts = [own(globalThis), own(Object.prototype), own(Array.prototype), own(Promise.prototype), own(Function.prototype), own(String.prototype), own(Math)];
  parts.push([1, 2].map((x) => x * 2).join(), JSON.stringify({ a: [1] }), JSON.parse('{"a":1}').a, Math.random(), Date.now(), new Date(0).toISOString());
  parts.push(Object.isFrozen(Object.prototype), Object.isFrozen(globalThis), typeof leak, typeof kept, "a,b".split(",").length, String(new Error("x")), typeof setTimeout, ({}).leak, [].leak);
  parts.push((await tools.demo.echo({ a: [1, 2] })).a.length, typeof console.log, crypto.randomUUID());
  return parts.join("|")`;

const limits = { cpuMs: 200, memoryMiB: 48 };

async function endAll(driver: SandboxDriver, programs: readonly string[]): Promise<void> {
  const runs = programs.map((program) => startProgram(driver, program, { limits }));
  // Those that wait for ever are ended like a person would.
  setTimeout(() => {
    for (const { run } of runs) run.cancel();
  }, 3_000).unref();
  for (const run of runs) await run.ended;
}

export const isolationCases: readonly DriverCase[] = [
  {
    name: "nothing of a run is visible in the next one, whatever it did",
    needs: "replayable",
    timeoutMs: 120_000,
    async run({ driver }) {
      const clean = await valueOf(driver, probe);
      for (const program of hostilePrograms) {
        const hostile = startProgram(driver, program, { limits });
        const patience = setTimeout(() => hostile.run.cancel(), 1_000);
        await hostile.ended;
        clearTimeout(patience);
        deepStrictEqual(await valueOf(driver, probe), clean, `after: ${program}`);
      }
    },
  },
  {
    name: "nothing of a run is visible in one that runs at the same time",
    needs: "replayable",
    timeoutMs: 60_000,
    async run({ driver }) {
      const clean = await valueOf(driver, probe);
      const hostile = endAll(driver, hostilePrograms);
      const values = await Promise.all(Array.from({ length: 10 }, () => valueOf(driver, probe)));
      for (const value of values) deepStrictEqual(value, clean);
      await hostile;
    },
  },
  {
    name: "a guest reaches nothing of the host through constructors, globals or errors",
    needs: "replayable",
    async run({ driver }) {
      const reach = `
        const probe = "return typeof process + typeof require + typeof Deno";
        const from = [(() => {}), (async () => {}), (function* () {}), tools.demo.echo, console.log, setTimeout, ToolError];
        const seen = [];
        for (const start of from) { try { seen.push(await start.constructor(probe)()) } catch (error) { seen.push(error instanceof Error) } }
        try { await tools.demo.echo(() => 1) } catch (error) { try { seen.push(error.constructor.constructor(probe)()) } catch (inner) { seen.push(inner instanceof Error) } }
        for (const name of ["process", "require", "module", "Buffer", "global", "fetch", "WebAssembly"]) seen.push(typeof globalThis[name]);
        return seen.filter((part) => typeof part === "string" && part.replaceAll("undefined", "") !== "").length`;
      deepStrictEqual(await valueOf(driver, reach), 0);
      deepStrictEqual(typeof (globalThis as { leak?: unknown }).leak, "undefined");
    },
  },
  {
    name: "the host's own objects are untouched by what a guest sends",
    async run({ driver }) {
      const own = Object.getOwnPropertyNames(Object.prototype).length;
      await valueOf(driver, `await tools.demo.echo(JSON.parse('{"__proto__": {"polluted": 1}}')); await tools.demo.echo({ constructor: { prototype: { polluted: 1 } } }); return JSON.parse('{"__proto__": {"polluted": 1}}')`);
      deepStrictEqual(Object.getOwnPropertyNames(Object.prototype).length, own);
      deepStrictEqual(({} as { polluted?: unknown }).polluted, undefined);
    },
  },
];
