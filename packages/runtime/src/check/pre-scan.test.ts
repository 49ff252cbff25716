import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultPreScanBounds, preScan } from "./pre-scan.ts";

const bounds = { ...defaultPreScanBounds, sourceBytes: 2 * 1024 * 1024 };
const oneLine = { ...bounds, lineChars: 1_000_000 };
const scan = (text: string): string | undefined => preScan(text, "typescript", oneLine)?.code;

const deep: readonly (readonly [string, (n: number) => string])[] = [
  ["brackets", (n) => `x=${"[".repeat(n)}${"]".repeat(n)}`],
  ["parentheses", (n) => `x=${"(".repeat(n)}1${")".repeat(n)}`],
  ["functions", (n) => `${"function f(){".repeat(n)}${"}".repeat(n)}`],
  ["templates", (n) => `x=${"`${".repeat(n)}1${"}`".repeat(n)}`],
];
const chains: readonly (readonly [string, (n: number) => string])[] = [
  ["unary operators", (n) => `x=${"!".repeat(n)}1`],
  ["ternaries", (n) => `x=${"a?b:".repeat(n)}1`],
  ["type arguments", (n) => `let x:${"A<".repeat(n)}B${">".repeat(n)}`],
  ["members", (n) => `x=a${".b".repeat(n)}`],
  ["arrows", (n) => `x=${"a=>".repeat(n)}1`],
  ["keywords", (n) => `x=${"typeof ".repeat(n)}1`],
];

describe("preScan", () => {
  test.each(deep)("js-036 js-037 refuses %s at ten times the depth any parser survives", (_name, make) => {
    expect(scan(make(5_000))).toBe("TOO_DEEP");
    expect(scan(make(20_000))).toBe("TOO_DEEP");
    expect(scan(make(240))).toBeUndefined();
  });

  test.each(chains)("refuses a chain of %s no parser survives", (_name, make) => {
    expect(scan(make(20_000))).toBe("TOO_DEEP");
    expect(scan(make(400))).toBeUndefined();
  });

  test("does not count brackets in strings, comments, templates and regular expressions", () => {
    const many = "(".repeat(1_000);
    for (const text of [`"${many}"`, `'${many}'`, `// ${many}`, `/* ${many} */`, `\`${many}\``, `x = /[${many}]/`]) expect(scan(text)).toBeUndefined();
  });

  test("is not fooled by closing brackets in text", () => {
    expect(scan("[ /*]*/ ".repeat(300))).toBe("TOO_DEEP");
    expect(scan('["]",'.repeat(300))).toBe("TOO_DEEP");
    expect(scan("`}${[".repeat(300))).toBe("TOO_DEEP");
  });

  test("takes long programs without semicolons", () => {
    expect(scan('const a = b.c(d)\n  .e()\nawait f(g)\n'.repeat(400))).toBeUndefined();
    expect(preScan("a = b.c(d)\n".repeat(600), "python", bounds)).toBeUndefined();
  });

  test("names the bound for bytes, not characters", () => {
    expect(preScan('"ééé"', "typescript", { ...bounds, sourceBytes: 7 })).toMatchObject({ code: "SOURCE_TOO_LARGE", message: expect.stringContaining("8 bytes; at most 7") });
  });

  test("reports NUL, bidirectional controls and long lines with their place", () => {
    expect(preScan("a;\nb\u202E;", "typescript", bounds)).toMatchObject({ code: "FORBIDDEN_CHARACTER", line: 2, column: 2, message: expect.stringContaining("U+202E") });
    expect(preScan("\0", "typescript", bounds)).toMatchObject({ code: "FORBIDDEN_CHARACTER" });
    expect(preScan(`1;\n"${"x".repeat(140_000)}"`, "typescript", bounds)).toMatchObject({ code: "LINE_TOO_LONG", line: 2 });
  });

  test("reads Python's strings and comments", () => {
    expect(preScan(`x = """${"(".repeat(400)}"""\n# ${"[".repeat(400)}`, "python", bounds)).toBeUndefined();
    expect(preScan("[".repeat(400), "python", bounds)?.code).toBe("TOO_DEEP");
  });

  test("answers any text, in linear time", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => preScan(text, "typescript", bounds)?.code !== ""));
    for (const part of ["=/", "=/[", "`${", "/*", "\"", "//", "}`", "\\", "a?.b"]) {
      const started = performance.now();
      preScan(part.repeat(30_000), "typescript", bounds);
      expect(performance.now() - started).toBeLessThan(2_000);
    }
  });
});
