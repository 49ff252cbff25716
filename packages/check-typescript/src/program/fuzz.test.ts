import { Script } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { check } from "../fixtures/harness.ts";

const corpus = [
  'import { documents } from "tools";\nconst d = await documents.get_document({ document_id: "d" });\nreturn { a: d.content, b: `${d.title ?? "x"}` };',
  "enum E { A, B = 2 }\nclass P { constructor(private x: number) {} }\nexport default async function main(): Promise<number> { return E.B; }",
  "const f = async <T>(x: T): Promise<T[]> => [x];\nfor (const x of await f(/a[/]b/g)) console.log(x?.source);\ntry { throw 1 } catch { } finally { }",
  "const a = { get x() { return 1 }, async *y() { yield* [] }, [`k${1}`]: 2 };\nlabel: while (true) { break label; }\na.x <!--1",
  "export const x = 1; export { x as y }; export type T = typeof x; declare const z: T;\nnamespace N { export let q = 1 }\n(async () => N.q)()",
];
const pieces = ["<!--", "-->", "\u180E", "\uFEFF", "\u200B", "\u2028", "\uD800", "\0", 'imp\\u006frt("fs")', "import/**/('fs')", "`${", "}`", "/*", "*/", "//", "=>", "async", "await", "export default", "@d", "<T,>", "<div/>", "{", "}", "(", ")", "[", "]", ";", "\n", "\r", "?.", "#x", "enum", "import x from 'tools'", "$callgate", "return", "class", "type", "satisfies", "as const", "using x = 1", "0n", "/re/v", "'", '"', "\\"];

/** Cuts, doubles and disturbs programs the way truncated and confused answers do. */
const disturbed = fc
  .tuple(fc.constantFrom(...corpus), fc.array(fc.tuple(fc.nat(200), fc.nat(6), fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 5, unit: "binary" }))), { maxLength: 6 }), fc.nat(250))
  .map(([text, edits, end]) => edits.reduce((at, [place, cut, put]) => at.slice(0, place) + put + at.slice(place + cut), text).slice(0, end));

describe("checkProgram", () => {
  test("answers whatever the text is, with places inside it, and only code that an engine reads", () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 4, arbitrary: disturbed }, { weight: 1, arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(" ")) }), (text) => {
        const report = check(text);
        const lines = text.split(/\r\n|\n|\r/);
        for (const { line, column } of [...report.diagnostics, ...report.repairs]) {
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 1);
        }
        if (report.kind === "rejected") expect(report.diagnostics.some(({ severity }) => severity === "error")).toBe(true);
        // An engine takes it: what the compiler lets through and the engine does not would fail without a place.
        else expect(() => new Script(report.code)).not.toThrow();
      }),
      { numRuns: Number(process.env["CALLGATE_FUZZ_RUNS"] ?? 400) },
    );
  });

  test.each([
    ["js-043", 'x = 1 <!-- import("node:fs")'],
    ["js-043", "--> import('node:fs')"],
    ["js-043", 'import/**/("fs")'],
    ["js-043", 'imp\\u006frt("fs")'],
    ["js-043", "let a\u180E= 1; return a"],
    ["js-043", "let a\uFEFF= 1; return a"],
    ["js-043", 'return (await import(`f${"s"}`))'],
    ["js-043", 'return eval("imp" + "ort(\\"fs\\")")'],
  ])("%s has no way to a module: %s", (_id, text) => {
    const report = check(text);
    if (report.kind === "ok") expect(report.code).not.toMatch(/\bimport\s*(?:\/\*.*?\*\/)?\s*\(/);
    if (report.kind === "ok") expect(report.reach.tools).toBe("*");
  });
});
