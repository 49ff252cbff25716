import { describe, expect, test } from "vitest";
import { accepted, first, rejected, run } from "../fixtures/harness.ts";
import type { Calls } from "../fixtures/harness.ts";

const shapes: readonly (readonly [name: string, text: string, form: string, value: unknown])[] = [
  ["script with return", "const a = 1;\nreturn a + 1;", "script", 2],
  ["top-level await", 'const d = await tools.documents.get_document({ document_id: "x" });\nreturn d.content;', "script", "text"],
  ["missing return", "const a = 2;\na * 2;", "script", 4],
  ["missing return and semicolon", "const a = 2\na * 3", "script", 6],
  ["one expression", "1 + 1", "expression", 2],
  ["one awaited expression", '(await tools.documents.get_document({ document_id: "x" })).tags', "expression", ["a"]],
  ["async arrow", "async () => {\n  return 3;\n}", "arrow", 3],
  ["arrow with an expression", "() => 4", "arrow", 4],
  ["arrow in parentheses", "(async () => { return 5; });", "arrow", 5],
  ["called arrow", "(async () => { return 6; })()", "expression", 6],
  ["imports and an arrow", 'import { documents } from "tools";\nasync () => (await documents.get_document({ document_id: "x" })).status', "arrow", "open"],
  ["function only", "async function main() {\n  return 7;\n}", "function", 7],
  ["helper and main", "const double = (n) => n * 2;\nfunction main() { return double(4); }", "function", 8],
  ["arrow in a constant", "const main = async () => 9;", "function", 9],
  ["declared and called", "async function main() { return 10; }\nmain();", "script", 10],
  ["export default function", "export default async function main() { return 11; }", "export_default", 11],
  ["export default nameless function", "export default function () { return 12; }", "export_default", 12],
  ["export default arrow", "export default async () => 13;", "export_default", 13],
  ["export default expression", "export default { a: 14 };", "export_default", { a: 14 }],
  ["export default before its helper", "export default async function main() { return helper(); }\nconst helper = () => 15;", "export_default", 15],
  ["export default name", "const main = async () => 16;\nexport default main;", "export_default", 16],
  ["named exports", "export const a = 17;\nexport { a as b };\nreturn a;", "script", 17],
  ["TypeScript", "interface P { n: number }\nconst p: P = { n: 18 } as P;\nreturn p.n!;", "script", 18],
  ["enum", 'enum Color {\n  Red = "r",\n  Blue = "b",\n}\nconst c: Color = Color.Blue;\nreturn c;', "script", "b"],
  ["const enum", "const enum N { A = 1, B }\nreturn N.B;", "script", 2],
  ["generics", "function first<T>(items: T[]): T | undefined { return items[0]; }\nreturn first<number>([19]);", "script", 19],
  ["parameter properties", "class P { constructor(private readonly n: number, public m = 1) {} get sum() { return this.n + this.m; } }\nreturn new P(19).sum;", "script", 20],
  ["namespace", "namespace Units { export const size = 21; }\nreturn Units.size;", "script", 21],
  ["old casts", "const value = <number>(21 as unknown);\nreturn value + 1;", "script", 22],
  ["comment at the end", "return 23; // done", "script", 23],
  ["Windows line ends", "const a = 24;\r\nreturn a;\r\n", "script", 24],
  ["shadows an import", 'import { documents } from "tools";\nconst f = () => { const documents = 25; return documents; };\nreturn f();', "script", 25],
  ["dynamic import of tools", 'const { documents } = await import("tools");\nreturn (await documents.get_document({ document_id: "x" })).content;', "script", "text"],
];

describe("checkProgram", () => {
  test.each(shapes)("code-mode 9: %s gives its value", async (_name, text, form, value) => {
    const report = accepted(text);
    expect(report.form).toBe(form);
    expect(await run(report.code)).toEqual(value);
  });

  test("keeps every line where it was", async () => {
    const report = accepted("enum E {\n  A,\n}\nconst f = () => { throw new Error(\"here\"); };\nreturn f();");
    const lines = report.code.split("\n");
    expect(lines[4 - report.lineOffset - 1]).toContain("throw new Error");
  });

  test.each([
    ['import { documents } from "tools";', "documents.get_document"],
    ['import { documents as d } from "tools";', "d.get_document"],
    ['import * as documents from "tools/documents";', "documents.get_document"],
    ['import * as everything from "tools";', "everything.documents.get_document"],
    ['import { get_document } from "tools/documents";', "get_document"],
    ['import { get_document as get, type DocumentLine } from "tools/documents";', "get"],
    ['import type { DocumentLine } from "tools/documents";', "tools.documents.get_document"],
  ])("runs %s", async (line, callee) => {
    const calls: Calls = [];
    const report = accepted(`${line}\nreturn await ${callee}({ document_id: "d" });`);
    expect(await run(report.code, calls)).toMatchObject({ content: "text" });
    expect(calls).toEqual([["documents.get_document", { document_id: "d" }]]);
    expect(report.reach).toEqual({ tools: ["documents.get_document"], effects: ["read"] });
  });

  test("type-checks what a top-level return gives", () => {
    expect(first(rejected('const doc = await tools.documents.get_document({ document_id: "d" });\nreturn doc.body;'))).toMatch(/^error TS2339 2:12 There is no field body on doc/);
  });

  test("refuses decorators with a reason", () => {
    expect(first(rejected("function log(t: any, c: any) { return t; }\nclass A { @log m() {} }\nreturn new A();"))).toBe("error DECORATOR_NOT_SUPPORTED 2:11 Decorators are not supported: the engine has none. Call the function on the class or method instead");
  });
});

describe("the library a program is checked against", () => {
  test.each([
    ["Object.groupBy", "return Object.groupBy([1, 2], (n) => (n > 1 ? 'a' : 'b'));"],
    ["Map.groupBy", "return Map.groupBy([1, 2], (n) => n % 2).size;"],
    ["Promise.withResolvers", "const { promise, resolve } = Promise.withResolvers();\nresolve(1);\nreturn await promise;"],
    ["Promise.try", "return await Promise.try(() => 1);"],
    ["set methods", "return [...new Set([1]).union(new Set([2]))];"],
    ["iterator helpers", "return new Map([[1, 2]]).keys().map((key) => key + 1).toArray();"],
    ["RegExp.escape", "return RegExp.escape('a.b');"],
    ["isWellFormed", "return 'a'.isWellFormed();"],
  ])("has what the guest has after ES2023: %s", (_name, text) => {
    expect(accepted(text).diagnostics).toEqual([]);
  });

  test("has not what the guest lacks", () => {
    expect(first(rejected("return await Array.fromAsync([1]);"))).toMatch(/^error TS/);
  });
});

describe("words that were widened to text", () => {
  test.each([
    'const query = { status: "open" };\nreturn (await tools.documents.list_documents(query)).items.length;',
    'let n = 0;\nfor (const status of ["open", "closed"]) n += (await tools.documents.list_documents({ status })).items.length;\nreturn n;',
  ])("are warned of and left to the tool's schema: %j", (text) => {
    expect(accepted(text).diagnostics.filter(({ severity }) => severity !== "advice").map(({ severity }) => severity)).toEqual(["warning"]);
  });

  test("a word that is written out and is none of the tool's stays an error", () => {
    expect(first(rejected('return await tools.documents.list_documents({ status: "opn" });'))).toContain("error");
  });
});
