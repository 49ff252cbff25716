import { ToolError } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { testRedactor } from "./fixtures/test-broker.ts";
import { safeText } from "./safe-text.ts";
import { readThrown } from "./thrown.ts";

const safe = safeText(testRedactor, '{"path":"/home/ann/notes.txt"}');
const read = (error: unknown, declared: Parameters<typeof readThrown>[1] = []) => readThrown(error, declared, safe);

describe("readThrown", () => {
  test("passes a ToolError through: code, message, retryable, details", () => {
    const error = new ToolError({ code: "STOCK_EMPTY", message: "None left", retryable: true, notApplied: true, details: { sku: "a-1", left: 0 } });
    expect(read(error)).toEqual({ code: "STOCK_EMPTY", message: "None left", retryable: true, notApplied: true, details: { sku: "a-1", left: 0 } });
  });

  test("lets a declared code say that it is retryable, and what it means when the message is empty", () => {
    const declared = [{ code: "BUSY", description: "The service is busy", retryable: true }];
    expect(read(new ToolError({ code: "BUSY", message: "" }), declared)).toMatchObject({ message: "The service is busy", retryable: true });
    expect(read(new ToolError({ code: "OTHER", message: "x" }), declared)).toMatchObject({ code: "OTHER", retryable: false });
    expect(read(new ToolError({ code: "SOURCE_UNAVAILABLE", message: "" }))).toMatchObject({ message: "The source behind the tool is down or could not be reached" });
    expect(read(new ToolError({ code: "ODD", message: "" }))).toMatchObject({ message: "ODD" });
  });

  test("does not take a code that is no code", () => {
    expect(read(new ToolError({ code: "not a code\n", message: "x" })).code).toBe("TOOL_FAILED");
  });

  test("makes any other error TOOL_FAILED with its message, and knows nothing about retrying", () => {
    expect(read(new TypeError("kaput"))).toEqual({ code: "TOOL_FAILED", message: "kaput", retryable: undefined, notApplied: false });
    expect(read(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })).details).toEqual({ code: "ECONNREFUSED" });
    expect(read(new RangeError("")).message).toBe("The tool threw a RangeError without a message");
    expect(read({ message: "plain", code: 17 })).toMatchObject({ message: "plain", details: { code: "17" } });
  });

  test("code-mode 10: says why a fetch failed, from its cause", () => {
    const failedFetch = (cause: unknown) => read(new TypeError("fetch failed", { cause })).message;
    expect(failedFetch(Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" }))).toBe("fetch failed: connect ECONNREFUSED 127.0.0.1:9");
    expect(failedFetch(Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" }))).toBe("fetch failed: ECONNREFUSED");
    expect(read(new Error("Cannot save: disk full", { cause: new Error("disk full") })).message).toBe("Cannot save: disk full");
  });

  test.each([
    [5, "The tool threw 5 instead of an error"],
    [undefined, "The tool threw undefined instead of an error"],
    [null, "The tool threw null instead of an error"],
    ["no", 'The tool threw "no" instead of an error'],
    [Symbol("s"), "The tool threw Symbol(s) instead of an error"],
    [{}, "The tool threw a object without a message"],
  ])("agent 11: survives a thrown %s", (thrown, message) => {
    expect(read(thrown)).toMatchObject({ code: "TOOL_FAILED", message });
  });

  test("js-045 flattens causes and aggregated errors to name, message, code: no stack, path or prototype", () => {
    const inner = Object.assign(new Error("open '/usr/lib/node_modules/x/y.js' failed with canary-7f3a"), { code: "ENOENT" });
    const error = new AggregateError([inner, new TypeError("at /opt/app/main.ts:3:4")], "all failed", { cause: new Error("root", { cause: inner }) });
    const { details, message } = read(error);
    expect(message).toBe("all failed: root");
    expect(details).toEqual({
      causes: [
        { name: "Error", message: "root" },
        { name: "Error", message: "open '[path]' failed with [secret]", code: "ENOENT" },
        { name: "TypeError", message: "at [path]" },
      ],
    });
    expect(JSON.stringify(details)).not.toMatch(/CANARY|canary|node_modules|node:internal|file:\/\/|at \/|\(\//);
  });

  test("ends a chain of causes that is endless or a circle", () => {
    const circle = new Error("a");
    circle.cause = circle;
    expect(read(circle).details).toBeUndefined();
    let chain = new Error("deepest");
    for (let depth = 0; depth < 100; depth++) chain = new Error(`e${depth}`, { cause: chain });
    expect((read(chain).details as { causes: unknown[] }).causes).toHaveLength(8);
  });

  test("survives an error whose properties throw", () => {
    const hostile = new Proxy(new Error("x"), { get: () => { throw new Error("trap"); } });
    expect(read(hostile)).toMatchObject({ code: "TOOL_FAILED", message: "The tool threw something that cannot be read" });
    const getter = Object.defineProperty(new Error("x"), "cause", { get: () => { throw new Error("trap"); } });
    expect(read(getter).code).toBe("TOOL_FAILED");
  });
});

describe("safeText", () => {
  test.each([
    ["a secret", "token canary-7f3a", "token [secret]"],
    ["a stack", "boom\n    at run (/home/x/a.ts:1:2)\n    at async node:internal/main/run:3:4\n    at <anonymous>", "boom"],
    ["a file URL", "cannot load file:///home/x/a.mjs", "cannot load [path]"],
    ["engine code", "thrown in node:internal/modules/run_main", "thrown in [internal]"],
    ["a host path", "ENOENT: no such file, open '/var/lib/app/data.db'", "ENOENT: no such file, open '[path]'"],
    ["a place in code", "at fault: /srv2/app/src/pay.ts:12:9", "at fault: [path]"],
    ["a Windows path", "open C:\\Users\\x\\a.txt", "open [path]"],
  ])("takes out %s", (_name, text, expected) => {
    expect(safe.text(text)).toBe(expected);
  });

  test.each([
    ["a path the caller wrote itself", "ENOENT: open '/home/ann/notes.txt'"],
    ["a route", "GET /api/users/1 gave 404"],
    ["a URL", "https://crm.example/home/x/1 gave 404"],
    ["a sentence", "meet\nat noon in the office"],
  ])("leaves %s alone", (_name, text) => {
    expect(safe.text(text)).toBe(text);
  });

  test("is bounded, and says how much is missing", () => {
    expect(safe.text("x".repeat(5_000))).toBe(`${"x".repeat(2_000)}… (3000 more characters)`);
    expect(safe.text("😀".repeat(2_000)).isWellFormed()).toBe(true);
  });

  test("stays quick on text made to be slow", () => {
    for (const piece of ["/a", "at ", "/home/", "    at (", "file://", "C:\\", "/x:1"]) expect(safe.text(piece.repeat(200_000)).length).toBeLessThan(2_100);
  });

  test("takes plain data only, bounded in depth and number, without stacks", () => {
    const deep = { a: { a: { a: { a: { a: { a: { a: { a: { a: { a: 1 } } } } } } } } } };
    expect(JSON.stringify(safe.json(deep)).length).toBeLessThan(70);
    expect(JSON.stringify(safe.json({ many: Array.from({ length: 1000 }, (_, index) => index) })).length).toBeLessThan(400);
    expect(safe.json({ f: () => 1, s: "canary-7f3a", stack: "x", n: Number.NaN, b: 1n, d: new Date(0), u: undefined })).toEqual({ s: "[secret]", n: "NaN", b: "1", d: "1970-01-01T00:00:00.000Z" });
    expect([safe.json([1]), safe.json("x"), safe.json(null)]).toEqual([undefined, undefined, undefined]);
  });
});
