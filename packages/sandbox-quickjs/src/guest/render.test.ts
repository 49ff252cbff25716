import { describe, expect, test } from "vitest";
import { render, renderAll } from "./render.ts";

class Money {
  amount = 3;
}
const cycle: { self?: unknown } = {};
cycle.self = cycle;

describe("render", () => {
  test.each([
    ["a text", "a text"],
    [["a", 1], '[ "a", 1 ]'],
    [{ a: 1, "b c": [] }, '{ a: 1, "b c": [] }'],
    [{}, "{}"],
    [undefined, "undefined"],
    [-0, "-0"],
    [10n, "10n"],
    [Symbol("s"), "Symbol(s)"],
    [new Map([["k", { v: 1 }]]), 'Map(1) { "k" => { v: 1 } }'],
    [new Set([1]), "Set(1) { 1 }"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    [new Uint8Array([1, 2]), "Uint8Array(2) [ 1, 2 ]"],
    [/a/g, "/a/g"],
    [new Money(), "Money { amount: 3 }"],
    [Object.create(null), "[Object: null prototype] {}"],
    [cycle, "{ self: [Circular] }"],
    [{ a: { b: { c: { d: { e: 1 } } } } }, "{ a: { b: { c: { d: [Object] } } } }"],
    [Promise.resolve(1), "Promise {}"],
    [() => 1, "[Function (anonymous)]"],
    [Object.assign([1], { 2: 3, length: 4 }), "[ 1, <1 empty>, 3, <1 empty> ]"],
  ])("shows %s as a REPL would", (value, text) => {
    expect(render(value)).toBe(text);
  });

  test("js-040 runs nothing of the program and is never made to throw", () => {
    let ran = 0;
    const hostile = {
      get getter() { ran += 1; return 1; },
      toString() { ran += 1; return "x"; },
      [Symbol.for("nodejs.util.inspect.custom")]() { ran += 1; return "x"; },
    };
    expect(render(hostile)).toContain("getter: [Getter]");
    const thrower = new Proxy({}, { ownKeys() { throw new Error("trap"); }, getPrototypeOf() { throw new Error("trap"); } });
    expect(render({ thrower })).toBe("{ thrower: [unreadable] }");
    expect(ran).toBe(0);
  });

  test("is bounded in items, text and all", () => {
    expect(render(Array.from({ length: 1_000 }, () => 0))).toMatch(/… 900 more \]$/);
    expect(render("x".repeat(1 << 22)).length).toBeLessThan(17_000);
    expect(render({ text: "x".repeat(1 << 22) })).toContain("more characters");
  });

  test("shows an error with its message, code and own fields", () => {
    const error = Object.assign(new TypeError("bad"), { code: "E_BAD" });
    Object.defineProperty(error, "stack", { value: "    at program.js:1:2", configurable: true });
    expect(render(error)).toBe('TypeError: bad\n    at program.js:1:2 { code: "E_BAD" }');
  });
});

describe("renderAll", () => {
  test("joins values with spaces and fills a format", () => {
    expect(renderAll(["a", 1, { b: 2 }])).toBe("a 1 { b: 2 }");
    expect(renderAll(["%s is %d of %i, %j %%", "x", 1.5, 2.9, { a: 1 }, "rest"])).toBe("x is 1.5 of 2, { a: 1 } % rest");
    expect(renderAll(["100%"])).toBe("100%");
    expect(renderAll([])).toBe("");
  });
});
