import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { CheckReport } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { checkIn, first } from "../fixtures/harness.ts";

const typesFolder = dirname(createRequire(import.meta.url).resolve("@types/node/package.json"));
const inNode = checkIn({ packages: [], typesFolder });
const block = (text: string, known: readonly string[] = []): CheckReport => inNode(text, "execute", new Set(known));

describe("blocks of a session", () => {
  test("the code is the block's own text without its types; imports stand before its first line", () => {
    const report = block('import { readFileSync } from "node:fs";\nimport { documents } from "tools";\ninterface Line { text: string }\nconst x: number = 1;\nconst line: Line = { text: readFileSync("a", "utf8") };\ndocuments;\nline.text');
    expect(report).toMatchObject({ kind: "ok", lineOffset: 0 });
    const lines = report.kind === "ok" ? report.code.split("\n") : [];
    expect(lines[0]?.trimEnd()).toBe('const { readFileSync: readFileSync } = await $callgate.import("node:fs"); const { documents } = $callgate.tools;');
    expect(lines.slice(3, 5).map((line) => line.replace(/ +/g, " ").trimEnd())).toEqual(["const x = 1;", 'const line = { text: readFileSync("a", "utf8") };']);
    expect(lines[6]).toContain("line.text");
  });

  test("a place in the code is one in the text", () => {
    const report = block('import fs from "node:fs"; fs.x();'.replace("fs.x()", "const a: number = 1"));
    const at = report.kind === "ok" ? report.code.indexOf("const a") + 1 + (report.shiftedLines.find(({ line }) => line === 1)?.columns ?? 0) : 0;
    expect(at).toBe(27);
  });

  test("names of blocks before are there, whatever they are; others are missed, with their place", () => {
    expect(block("const y: Shape = total + prices.length;\nconst [a, b] = [total, new Shape()];\n({ total, a, b, y })", ["total", "prices", "Shape"])).toMatchObject({ kind: "ok", diagnostics: [] });
    expect(first(block("const a = 1;\ntotal + a", ["totals"]))).toMatch(/^error TS(?:2304|2552) 2:1 total/);
    expect(first(block("total + 1"))).toMatch(/^error TS2304 1:1 total/);
  });

  test("what is known of tools and Node is checked as in a program", () => {
    expect(first(block('(await tools.documents.get_document({ document_id: "d" })).wording', ["total"]))).toMatch(/^error TS2339 1:/);
    expect(block('tools.documents.get_document({ document_id: "d" })')).toMatchObject({ kind: "ok", diagnostics: [], code: expect.stringMatching(/^await tools/) as string, shiftedLines: [{ line: 1, columns: -6 }] });
    expect(block('await tools.documents.get_document({ document_id: "d" })')).toMatchObject({ kind: "ok", diagnostics: [] });
  });

  test("a block that only declares has nothing to be warned of; return and export have no meaning", () => {
    expect(block("const a = 1;")).toMatchObject({ kind: "ok", diagnostics: [] });
    expect(block("const f = () => { return 1; };\nf()")).toMatchObject({ kind: "ok" });
    expect(first(block("const a = 1;\nreturn a"))).toMatch(/^error RETURN_IN_BLOCK 2:1/);
    expect(first(block("export default 1"))).toMatch(/^error EXPORT_FORM 1:1/);
  });
});
