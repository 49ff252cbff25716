import { deepStrictEqual, ok } from "node:assert/strict";
import type { GuestEnd, LimitName, SandboxDriver } from "@callgate/contract";
import { decodeValue } from "@callgate/contract";
import type { DriverCase } from "./driver-case.ts";
import type { HarnessOptions } from "./guest-harness.ts";
import { startProgram, valueOf } from "./guest-harness.ts";

const endOf = (driver: SandboxDriver, body: string, options: HarnessOptions = {}): Promise<GuestEnd> => startProgram(driver, body, options).ended;

/** Counts turns of the host's loop at 5 ms while a guest runs. */
async function ticksDuring(work: Promise<unknown>): Promise<{ readonly ticks: number; readonly durationMs: number; readonly longestMs: number }> {
  const start = performance.now();
  let last = start;
  let ticks = 0;
  let longestMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    ticks += 1;
  }, 5);
  await work;
  clearInterval(timer);
  return { ticks, durationMs: performance.now() - start, longestMs };
}

/** Programs that use up the CPU or the memory in ways an engine finds hard to stop. */
const bombs: readonly { readonly what: string; readonly body: string; readonly ends: readonly (LimitName | "any")[] }[] = [
  { what: "an endless loop", body: "while (true) {}", ends: ["cpuMs"] },
  { what: "an endless loop that catches everything", body: "for (;;) { try { for (;;); } catch {} finally { try { for (;;); } catch {} } }", ends: ["cpuMs"] },
  { what: "an async loop that catches everything", body: "const f = async () => { for (;;); }; for (;;) { try { await f() } catch {} }", ends: ["cpuMs"] },
  { what: "catastrophic backtracking", body: "return /^(\\w+\\s?)*$/.test('a '.repeat(200) + '!')", ends: ["cpuMs", "any"] },
  { what: "nested quantifiers", body: "return /^(a+)+$/.test('a'.repeat(40) + 'b')", ends: ["cpuMs", "any"] },
  { what: "a huge sort", body: "const a = Array.from({ length: 3e6 }, (_, i) => (i * 7919) % 1000003); for (;;) a.sort((x, y) => x - y)", ends: ["cpuMs", "memoryMiB"] },
  { what: "a deep recursion", body: "const f = (n) => f(n + 1) + 1; return f(0)", ends: ["stackKiB"] },
  { what: "an endless chain of microtasks", body: "const spin = () => { Promise.resolve().then(spin) }; spin(); await new Promise(() => {})", ends: ["cpuMs"] },
  { what: "an endless chain of promises that wait for the next", body: "const spin = () => Promise.resolve().then(spin); spin(); await new Promise(() => {})", ends: ["cpuMs", "memoryMiB"] },
  { what: "a string bomb", body: "let s = 'x'.repeat(1 << 20); const a = []; for (;;) { s = s + s.slice(1); a.push(s.split('').join('-')) }", ends: ["memoryMiB", "cpuMs", "any"] },
  { what: "an array bomb", body: "const a = []; for (;;) a.push(new Array(1e5).fill(a))", ends: ["memoryMiB", "cpuMs"] },
  { what: "a buffer bomb", body: "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))", ends: ["memoryMiB", "cpuMs"] },
  { what: "a big integer bomb", body: "let n = 3n; for (;;) n = n * n", ends: ["cpuMs", "memoryMiB", "any"] },
  { what: "nested JSON", body: "return JSON.parse('['.repeat(200000) + ']'.repeat(200000))", ends: ["stackKiB", "any"] },
  { what: "a replace bomb", body: "let s = 'a'.repeat(1000); for (;;) s = s.replace(/a/g, 'aa')", ends: ["memoryMiB", "cpuMs", "any"] },
];

export const endCases: readonly DriverCase[] = [
  ...bombs.map(
    ({ what, body, ends }): DriverCase => ({
      name: `code-mode 6: ${what} ends at a named limit and the host's loop goes on turning`,
      needs: "replayable",
      timeoutMs: 30_000,
      async run({ driver }) {
        const run = startProgram(driver, body, { limits: { cpuMs: 400, memoryMiB: 64 } });
        const { ticks, durationMs } = await ticksDuring(run.ended);
        const end = await run.ended;
        ok(end.kind === "limit" ? ends.includes(end.limit) || ends.includes("any") : ends.includes("any"), `ended ${JSON.stringify(end)}`);
        ok(end.kind !== "crashed", `ended ${JSON.stringify(end)}`);
        if (end.kind === "limit") ok(end.message.length > 20 && end.limitValue > 0);
        // A fifth of the turns an idle host would have had: a busy machine is no frozen loop.
        ok(durationMs < 100 || ticks > durationMs / 5 / 5, `${ticks} turns in ${durationMs} ms`);
        deepStrictEqual(await valueOf(driver, "return 1"), 1);
      },
    }),
  ),
  {
    name: "CPU time does not count waiting (code-mode 4)",
    async run({ driver }) {
      deepStrictEqual(await valueOf(driver, `for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 60)); return 1`, { limits: { cpuMs: 100 } }), 1);
    },
  },
  {
    name: "CPU time adds up over the stretches of a run",
    needs: "replayable",
    async run({ driver }) {
      const end = await endOf(driver, `for (;;) { for (let i = 0; i < 20000; i++); await tools.demo.echo(1) }`, { limits: { cpuMs: 150 } });
      ok(end.kind === "limit" && end.limit === "cpuMs" && end.limitValue === 150);
    },
  },
  {
    name: "guests that compute for long keep no other from running, not even one of their own thread",
    needs: "replayable",
    timeoutMs: 120_000,
    async run({ driver }) {
      const waiting = Array.from({ length: 12 }, () => startProgram(driver, `let n = 0; for (let i = 0; i < 3; i++) n += (await tools.demo.echo({ i })).i; return n`, { byHand: true }));
      for (const run of waiting) await run.issued(1);
      const spinners = Array.from({ length: 2 }, () => startProgram(driver, "while (true) {}", { limits: { cpuMs: 1e9 } }));
      await new Promise((resolve) => setTimeout(resolve, 50));
      for (const run of waiting) {
        for (let step = 0; step < 3; step++) {
          await run.issued(step + 1);
          run.answer(step, { i: step });
        }
        deepStrictEqual((await run.ended).kind, "returned");
        deepStrictEqual(run.calls.length, 3);
      }
      deepStrictEqual(await valueOf(driver, "return 1"), 1);
      for (const { run } of spinners) run.cancel();
      for (const spinner of spinners) deepStrictEqual((await spinner.ended).kind, "cancelled");
    },
  },
  {
    name: "arguments over argumentBytes are not sent: the program gets LIMIT_EXCEEDED",
    async run({ driver }) {
      const run = startProgram(driver, `try { await tools.demo.echo({ blob: "A".repeat(5000) }) } catch (error) { return [error instanceof ToolError, error.code, error.tool, error.details] }`, { limits: { argumentBytes: 1000 } });
      const end = await run.ended;
      ok(end.kind === "returned");
      deepStrictEqual(decodeValue(end.value), [true, "LIMIT_EXCEEDED", "demo.echo", { limit: "argumentBytes", limitValue: 1000 }]);
      deepStrictEqual(run.calls.length, 0);
      const wide = await valueOf(driver, `try { await tools.demo.echo({ text: "€".repeat(400) }); return "sent" } catch (error) { return error.code }`, { limits: { argumentBytes: 1000 } });
      deepStrictEqual(wide, "LIMIT_EXCEEDED");
    },
  },
  {
    name: "a result over callResultBytes is an error of that call",
    async run({ driver }) {
      const value = await valueOf(driver, `try { return await tools.demo.big({}) } catch (error) { return [error.code, error.details.limit] }`, { limits: { callResultBytes: 1000 }, tools: { "demo.big": () => "x".repeat(2000) } });
      deepStrictEqual(value, ["LIMIT_EXCEEDED", "callResultBytes"]);
    },
  },
  {
    name: "a value over resultBytes ends the run at that limit",
    async run({ driver }) {
      const end = await endOf(driver, `return "x".repeat(5000)`, { limits: { resultBytes: 1000 } });
      ok(end.kind === "limit" && end.limit === "resultBytes" && end.limitValue === 1000);
      const wide = await endOf(driver, `return "€".repeat(400)`, { limits: { resultBytes: 1000 } });
      ok(wide.kind === "limit" && wide.limit === "resultBytes");
    },
  },
  {
    name: "console output beyond consoleBytes is counted and dropped",
    needs: "replayable",
    async run({ driver }) {
      const run = startProgram(driver, `for (let i = 0; i < 100; i++) console.log("x".repeat(99)); return 1`, { limits: { consoleBytes: 1000 } });
      deepStrictEqual((await run.ended).kind, "returned");
      const printed = run.outputs.filter((output) => output.kind === "console");
      deepStrictEqual(printed.length, 10);
      deepStrictEqual(run.outputs.at(-1), { kind: "console-dropped", droppedBytes: 9000 });
    },
  },
  {
    name: "what was printed before a limit is still told",
    async run({ driver }) {
      const run = startProgram(driver, `console.log("before"); text("also"); while (true) {}`, { limits: { cpuMs: 100 } });
      await run.ended;
      deepStrictEqual(run.outputs, [{ kind: "console", entry: { level: "log", text: "before" } }, { kind: "text", text: "also" }]);
    },
  },
  {
    name: "cancel ends a guest within 500 ms, whatever it does, and may be repeated",
    timeoutMs: 30_000,
    async run({ driver }) {
      for (const body of ["await tools.demo.echo(1)", "while (true) {}", "const spin = () => Promise.resolve().then(spin); spin(); await new Promise(() => {})", "return /^(a+)+$/.test('a'.repeat(50) + 'b')"]) {
        const run = startProgram(driver, body, { byHand: true });
        await new Promise((resolve) => setTimeout(resolve, 100));
        const start = performance.now();
        run.run.cancel();
        run.run.cancel();
        const end = await run.ended;
        const tookMs = performance.now() - start;
        ok(end.kind === "cancelled" || body.startsWith("return"), `${body} ended ${JSON.stringify(end)}`);
        ok(tookMs < 500, `${body} took ${tookMs} ms`);
        run.run.cancel();
      }
    },
  },
  {
    name: "code-mode 9: nothing is silently nothing: a pending promise is stalled, a thrown non-error is an error",
    async run({ driver }) {
      deepStrictEqual(await endOf(driver, `await new Promise(() => {})`), { kind: "stalled" });
      deepStrictEqual(await endOf(driver, `const id = setTimeout(() => {}, 1e6); clearTimeout(id); await new Promise(() => {})`), { kind: "stalled" });
      const thrown = await endOf(driver, `throw { code: 1 }`);
      ok(thrown.kind === "threw" && thrown.error.name === "NonError" && thrown.error.message === "{ code: 1 }");
      ok(thrown.error.details !== undefined);
      deepStrictEqual(decodeValue(thrown.error.details), { code: 1 });
      for (const body of ["throw undefined", "throw null", "throw 'text'", "return Promise.reject(7)"]) ok((await endOf(driver, body)).kind === "threw", body);
      const timer = await endOf(driver, `setTimeout(() => { throw new RangeError("in a timer") }, 0); await tools.demo.never(1)`, { tools: { "demo.never": () => new Promise(() => {}) } });
      ok(timer.kind === "threw" && timer.error.name === "RangeError");
      deepStrictEqual(await valueOf(driver, ``), undefined);
    },
  },
  {
    name: "an error crosses with name, message and its place in the executed text",
    async run({ driver }) {
      const end = await endOf(driver, `const a = 1;\n  null.field;`);
      ok(end.kind === "threw" && end.error.name === "TypeError" && end.error.line === 3 && (end.error.column ?? 0) >= 3, JSON.stringify(end));
      const syntax = await endOf(driver, `return [1, 2`);
      ok(syntax.kind === "threw" && syntax.error.name === "SyntaxError");
    },
  },
  {
    name: "a tool's error is a ToolError with code, tool, retryable and details, and keeps them uncaught, at the call's place",
    async run({ driver }) {
      const tools = { "shop.buy": () => { throw Object.assign(new Error("Sold out"), { code: "SOLD_OUT", retryable: true, details: { left: 0 } }); } };
      const caught = await valueOf(driver, `try { await tools.shop.buy({}) } catch (e) { return [e instanceof ToolError, e instanceof Error, e.name, e.code, e.tool, e.retryable, e.details, e.message] }`, { tools });
      deepStrictEqual(caught, [true, true, "ToolError", "SOLD_OUT", "shop.buy", true, { left: 0 }, "Sold out"]);
      const end = await endOf(driver, `const x = 1;\nawait tools.shop.buy({})`, { tools });
      ok(end.kind === "threw");
      const { name, code, tool, retryable, message, line } = end.error;
      deepStrictEqual({ name, code, tool, retryable, message, line }, { name: "ToolError", code: "SOLD_OUT", tool: "shop.buy", retryable: true, message: "Sold out", line: 3 });
    },
  },
  {
    name: "an unknown tool or namespace is TOOL_NOT_FOUND with the nearest name; `then` and its like are not tools",
    async run({ driver }) {
      const near = await endOf(driver, `await tools.demo.ecko({})`);
      ok(near.kind === "threw" && near.error.code === "TOOL_NOT_FOUND" && near.error.message.includes('"echo"'), JSON.stringify(near));
      const space = await endOf(driver, `await tools.demmo.echo({})`);
      ok(space.kind === "threw" && space.error.code === "TOOL_NOT_FOUND" && space.error.message.includes('"demo"'));
      const odd = await valueOf(driver, `await tools; await tools.demo; return [typeof tools.then, typeof tools.demo.then, typeof tools.constructor, typeof tools.__proto__, JSON.stringify(tools.demo), Object.keys(tools).join(), "nope" in tools, Object.isFrozen(tools), Object.isFrozen(tools.demo)]`);
      deepStrictEqual(odd, ["undefined", "undefined", "undefined", "undefined", "{}", "demo,search,describe,sleep,waitFor", false, true, true]);
    },
  },
];
