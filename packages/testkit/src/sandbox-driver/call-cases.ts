import { deepStrictEqual, ok } from "node:assert/strict";
import type { DriverCase } from "./driver-case.ts";
import { lineOf, startNamed, valueOfNamed } from "./guest-harness.ts";

const soldOut = { "shop.buy": () => { throw Object.assign(new Error("Sold out"), { code: "SOLD_OUT", retryable: true, details: { left: 0 } }); } };
const plainData = { none: null, yes: true, whole: 7, part: 0.5, text: "€ 😀 \0", list: [1, [2, []]], deep: { a: { b: {} } } };

/** Tools and values, in every language that can have them. */
export const callCases: readonly DriverCase[] = [
  {
    name: "a program calls a tool with arguments and works with the answer; seq counts the calls from 0",
    programs: ["callOnce", "callThrice"],
    async run(world) {
      const seen: unknown[] = [];
      deepStrictEqual(await valueOfNamed(world, "callOnce", { tools: { "demo.echo": (args) => { seen.push(args); return args; } } }), 7);
      deepStrictEqual(seen, [{ i: 7, text: "x" }]);
      const run = startNamed(world, "callThrice");
      deepStrictEqual((await run.ended).kind, "returned");
      deepStrictEqual(run.calls.map((call) => call.seq), [0, 1, 2]);
    },
  },
  {
    name: "a namespace can be imported as a module of its own",
    programs: ["callByImport"],
    run: async (world) => deepStrictEqual(await valueOfNamed(world, "callByImport"), 7),
  },
  {
    name: "concurrent calls are all issued before the first is answered, and each gets its own answer",
    programs: ["callTwentyAtOnce"],
    async run(world) {
      const run = startNamed(world, "callTwentyAtOnce", { byHand: true });
      await run.issued(20);
      for (let seq = 19; seq >= 0; seq--) run.answer(seq, { i: seq });
      const end = await run.ended;
      ok(end.kind === "returned", JSON.stringify(end));
      deepStrictEqual(JSON.parse(end.value.json), Array.from({ length: 20 }, (_, i) => i));
    },
  },
  {
    name: "the pages of a paged tool are calls of it, each with the arguments that the one before gave; of another tool there are none",
    programs: ["callPages"],
    async run(world) {
      const seen: unknown[] = [];
      const list = (args: unknown): unknown => {
        seen.push(args);
        const { from = 0 } = args as { readonly from?: number };
        return { page: [from, from + 1], ...(from < 4 ? { next: { from: from + 2 } } : {}) };
      };
      deepStrictEqual(await valueOfNamed(world, "callPages", { tools: { "demo.list": list, "demo.echo": (args) => args } }), [0, 1, 2, 3, 4, 5, "INVALID_INPUT"]);
      deepStrictEqual(seen.slice(0, 3), [{ size: 2 }, { size: 2, from: 2 }, { size: 2, from: 4 }]);
    },
  },
  {
    name: "plain data goes to a tool, comes back, and comes out of the program unchanged",
    programs: ["callData", "data"],
    async run(world) {
      const sent = { none: null, yes: true, whole: 7, part: 0.5, text: "€ 😀", list: [1, [2, []]], deep: { a: {} } };
      let seen: unknown;
      deepStrictEqual(await valueOfNamed(world, "callData", { tools: { "demo.echo": (args) => (seen = args) } }), sent);
      deepStrictEqual(seen, sent);
      deepStrictEqual(await valueOfNamed(world, "data"), plainData);
    },
  },
  {
    name: "what JSON has no word for comes out as it is",
    programs: ["special"],
    run: async (world) => deepStrictEqual(await valueOfNamed(world, "special"), [Number.NaN, Number.POSITIVE_INFINITY, -0, 2n ** 70n, new Date(1234), new Set([1]), new Uint8Array([0, 255])]),
  },
  {
    name: "a tool's error has code, tool, retryable and details, caught or not, and the place of the call",
    programs: ["errorCaught", "errorUncaught"],
    async run(world) {
      deepStrictEqual(await valueOfNamed(world, "errorCaught", { tools: soldOut }), [true, "SOLD_OUT", "shop.buy", true, { left: 0 }, "Sold out"]);
      const end = await startNamed(world, "errorUncaught", { tools: soldOut }).ended;
      ok(end.kind === "threw", JSON.stringify(end));
      const { name, code, tool, retryable, message, line } = end.error;
      deepStrictEqual({ name, code, tool, retryable, message, line }, { name: "ToolError", code: "SOLD_OUT", tool: "shop.buy", retryable: true, message: "Sold out", line: lineOf(world, 2) });
    },
  },
  {
    name: "in a namespace whose tools are not known, any name is asked of the host, and its error is what the program gets",
    programs: ["callOnce", "errorCaught"],
    async run(world) {
      deepStrictEqual(await valueOfNamed(world, "callOnce", { open: true }), 7);
      deepStrictEqual(await valueOfNamed(world, "errorCaught", { open: true, tools: soldOut }), [true, "SOLD_OUT", "shop.buy", true, { left: 0 }, "Sold out"]);
    },
  },
  {
    name: "a tool that is not there is TOOL_NOT_FOUND with the nearest name",
    programs: ["callUnknownTool"],
    async run(world) {
      const end = await startNamed(world, "callUnknownTool").ended;
      ok(end.kind === "threw" && end.error.code === "TOOL_NOT_FOUND" && end.error.message.includes('"echo"'), JSON.stringify(end));
    },
  },
  {
    name: "arguments that cannot cross, and such as are too large, are refused before anything is sent",
    programs: ["callUnsupported", "callTooLarge"],
    async run(world) {
      const unsupported = startNamed(world, "callUnsupported");
      const tooLarge = startNamed(world, "callTooLarge", { limits: { argumentBytes: 1000 } });
      const ends = [await unsupported.ended, await tooLarge.ended];
      const values = ends.map((end) => (end.kind === "returned" ? JSON.parse(end.value.json) : end));
      deepStrictEqual(values, [["VALUE_UNSUPPORTED", "demo.echo", "/x/1"], ["LIMIT_EXCEEDED", "demo.echo", { limit: "argumentBytes", limitValue: 1000 }]]);
      deepStrictEqual([...unsupported.calls, ...tooLarge.calls], []);
    },
  },
  {
    name: "an answer over callResultBytes is an error of that call",
    programs: ["answerTooLarge"],
    run: async (world) => deepStrictEqual(await valueOfNamed(world, "answerTooLarge", { limits: { callResultBytes: 1000 }, tools: { "demo.big": () => "x".repeat(2000) } }), ["LIMIT_EXCEEDED", "callResultBytes"]),
  },
  {
    name: "a large answer is workable in the program",
    programs: ["largeAnswer"],
    timeoutMs: 60_000,
    async run(world) {
      const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, region: `r${id % 7}`, amount: id % 100 }));
      deepStrictEqual(await valueOfNamed(world, "largeAnswer", { tools: { "demo.rows": () => rows } }), [20_000, 7]);
    },
  },
  {
    name: "search, describe and results.read are built-ins with the arguments the program gave",
    programs: ["builtins"],
    async run(world) {
      const echo = (args: unknown): unknown => args;
      deepStrictEqual(await valueOfNamed(world, "builtins", { tools: { "demo.echo": echo, "builtin.search": echo, "builtin.describe": echo, "builtin.read_result": echo } }), [{ limit: 2, query: "x" }, { names: ["a.b"] }, { path: "/x", handle: "result://a/1" }]);
    },
  },
  {
    name: "a completion for a call that was not issued is a fault of the host and ends the guest as crashed",
    programs: ["callAndWait"],
    async run(world) {
      const run = startNamed(world, "callAndWait", { byHand: true });
      await run.issued(1);
      run.answer(5, null);
      deepStrictEqual((await run.ended).kind, "crashed");
      run.answer(0, null);
      deepStrictEqual(run.lateCalls, []);
    },
  },
];
