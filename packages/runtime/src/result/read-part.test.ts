import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { modelView } from "./model-view.ts";
import { readPart } from "./read-part.ts";
import type { PartBudget, PartOptions } from "./read-part.ts";
import { createLazyTokenCounter } from "./token-counter.ts";

const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `name ${id}` }));
const prose = ["The harbour wall was inspected in May.", "Nobody mentioned the budget for lamps.", "A new crane arrived, and its operator was trained."].map((sentence) => `${sentence} ${"Filler words follow here. ".repeat(30)}`).join("\n\n");

describe("readPart", () => {
  let budget: PartBudget;
  beforeAll(async () => {
    budget = { tokens: 300, counter: await createLazyTokenCounter().load() };
  });
  const read = (value: unknown, options: PartOptions = {}, limited: PartBudget | undefined = budget) => readPart(value, options, limited);

  test.each([
    ["/rows/3/name", "name 3"],
    ["rows[3].name", "name 3"],
    ["$.rows.3.name", "name 3"],
    ["/rows/-1/id", 999],
    ["/odd~1key/~0", 7],
    ['["odd/key"]', { "~": 7 }],
    ["map.k", 1],
    ["", undefined],
  ])("follows the path %s", (path, expected) => {
    const value = { rows, "odd/key": { "~": 7 }, map: new Map([["k", 1]]) };
    const result = readPart(value, { path }, undefined);
    expect(result).toEqual({ kind: "value", value: expected ?? value });
  });

  test("says what is there when a path leads nowhere, and never follows a prototype", () => {
    expect(read({ rows }, { path: "/row" })).toMatchObject({ kind: "error", error: { code: "INVALID_INPUT", message: "There is nothing at /row: its keys are rows", path: "/path" } });
    for (const path of ["constructor", "__proto__", "rows.length", "rows.map"]) expect(read({ rows }, { path })).toMatchObject({ kind: "error" });
  });

  test("pages through a list: every item once, in order, within the budget", () => {
    const seen: unknown[] = [];
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const result = read(rows, { offset });
      if (result.kind !== "value") throw new Error("no value");
      expect(budget.counter.count(JSON.stringify(result.value))).toBeLessThanOrEqual(300);
      expect(result.total).toBe(1_000);
      seen.push(...(result.value as unknown[]));
      offset = result.nextOffset;
    }
    expect(seen).toEqual(rows);
  });

  test("slices lines of text, characters of a line, entries of an object", () => {
    expect(read("a\nb\nc\nd", { offset: 1, limit: 2 })).toEqual({ kind: "value", value: "b\nc", total: 4, nextOffset: 3 });
    expect(read("abcdef", { offset: 2, limit: 2 })).toEqual({ kind: "value", value: "cd", total: 6, nextOffset: 4 });
    expect(read({ a: 1, b: 2, c: 3 }, { offset: 1, limit: 1 })).toEqual({ kind: "value", value: { b: 2 }, total: 3, nextOffset: 2 });
  });

  test("a single item over the budget comes as an outline, and the next one is reachable", () => {
    expect(read(["x".repeat(90_000), "small"], {})).toMatchObject({ kind: "value", outlined: true, total: 2, nextOffset: 1 });
    expect(read(["x".repeat(90_000), "small"], { offset: 1 })).toEqual({ kind: "value", value: ["small"], total: 2 });
  });

  test("greps lines and items, and counts all matches", () => {
    expect(read("one\ntwo\nthree\n", { grep: "^t" })).toEqual({ kind: "value", value: [{ index: 1, line: "two" }, { index: 2, line: "three" }], total: 2 });
    expect(read(rows, { grep: "name 99\\d", limit: 2 })).toEqual({ kind: "value", value: [{ index: 990, item: rows[990] }, { index: 991, item: rows[991] }], total: 10, nextOffset: 2 });
    expect(read(rows, { grep: "(" })).toMatchObject({ kind: "error", error: { code: "INVALID_INPUT", path: "/grep" } });
    expect(read(rows, { grep: "(a)\\1" })).toMatchObject({ kind: "error", error: { message: expect.stringContaining("no back-references") as string } });
  });

  test("a pattern that backtracks for ever elsewhere takes no time here", () => {
    const started = performance.now();
    expect(read(`${"a".repeat(20_000)}!`, { grep: "^(a+)+$" })).toMatchObject({ kind: "value", value: [] });
    expect(read("a".repeat(15_000), { grep: "(x+x+)+y" })).toMatchObject({ kind: "value", value: [] });
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test("ranks passages of prose for a query", () => {
    const result = read(prose, { search: "who operates the crane" }, undefined);
    expect(result).toMatchObject({ kind: "value", value: [{ text: expect.stringContaining("crane") as string, offset: expect.any(Number) as number }] });
  });

  test("refuses options that make no sense", () => {
    expect(read(rows, { offset: -1 })).toMatchObject({ kind: "error" });
    expect(read(rows, { limit: 1.5 })).toMatchObject({ kind: "error" });
    expect(read(rows, { grep: "a", search: "b" })).toMatchObject({ kind: "error", error: { message: "Give grep or search, not both" } });
  });

  test("an outlined item leaves room for the list around it", () => {
    const value = [new Map(Array.from({ length: 60 }, (_, n) => [n * 1e15, -(10n ** BigInt(n))]))];
    for (let tokens = 100; tokens < 500; tokens += 1) {
      const result = readPart(value, { grep: "." }, { ...budget, tokens });
      expect(result.kind === "value" && budget.counter.count(JSON.stringify(modelView(result.value)))).toBeLessThanOrEqual(tokens);
    }
  });

  test("is within the budget for any value and options", () => {
    const options = fc.record({ offset: fc.nat(20), limit: fc.nat(50), grep: fc.constantFrom("a", ".", "[0-9]+"), path: fc.constantFrom("", "0", "a") }, { requiredKeys: [] });
    const value = fc.oneof(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, maxDepth: 4 }), fc.array(fc.string({ maxLength: 5_000 })), fc.string({ unit: "binary", maxLength: 9_000 }), fc.array(fc.string()).map((lines) => lines.join("\n").repeat(30)));
    fc.assert(
      fc.property(value, options, (given, asked) => {
        const result = read(given, asked);
        if (result.kind === "value") expect(budget.counter.count(JSON.stringify(modelView(result.value)))).toBeLessThanOrEqual(300);
      }),
      { numRuns: 300 },
    );
  });
});
