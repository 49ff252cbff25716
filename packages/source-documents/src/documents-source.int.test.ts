import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import JSZip from "jszip";
import pdfmake from "pdfmake";
import type { Source } from "@callgate/contract";
import { createDocumentsSource } from "./documents-source.ts";
import { callTool, makeFolder, problemsOf, wordDocument } from "./fixtures/test-documents.ts";
import type { DocumentPage, FoundPassages, TestFolder } from "./fixtures/test-documents.ts";

let folder: TestFolder;
let source: Source | undefined;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(async () => {
  await source?.close();
  folder.remove();
});

// Of every PDF reader: no font file is loaded.
pdfmake.addFonts({ Helvetica: { normal: "Helvetica", bold: "Helvetica-Bold" } });
pdfmake.setUrlAccessPolicy(() => false);
pdfmake.setLocalAccessPolicy((path) => path.startsWith("Helvetica"));
const pdf = (title: string, pages: readonly string[]): Promise<Buffer> => pdfmake.createPdf({ info: { title }, defaultStyle: { font: "Helvetica" }, content: pages.map((text, index) => ({ text, ...(index === 0 ? {} : { pageBreak: "before" }) })) }).getBuffer();

const search = (query: string): Promise<FoundPassages> => callTool<FoundPassages>(source as Source, "search", { query });

describe("files of every format, in the thread that reads them", { timeout: 120_000 }, () => {
  test("a real PDF by its pages, a real Word document by its headings", async () => {
    folder.write({
      "terms.pdf": await pdf("Terms of delivery", ["Goods leave the warehouse on Mondays.", "Complaints go to the harbour office."]),
      "minutes.docx": await wordDocument([{ text: "Minutes of May", style: "Heading1" }, { text: "The lighthouse is painted red." }]),
      "prices.tsv": "article\tprice\nlamp\t12\n",
      "old.txt": Buffer.from("Stra\xdfe", "latin1"),
    });
    source = createDocumentsSource({ namespace: "handbook", folder: folder.path, waitMs: 100_000 });
    expect(await problemsOf(source)).toEqual([]);
    expect((await search("harbour complaints")).passages[0]).toMatchObject({ document: "terms.pdf", title: "Terms of delivery", heading: "Page 2" });
    expect((await search("lighthouse")).passages[0]).toMatchObject({ document: "minutes.docx", title: "Minutes of May", heading: "Minutes of May" });
    expect((await search("lamp")).passages[0]).toMatchObject({ document: "prices.tsv", passage: "article: lamp | price: 12" });
    expect((await callTool<DocumentPage>(source, "read", { document: "old.txt" })).text.trim()).toBe("Straße");
    expect((await callTool<DocumentPage>(source, "read", { document: "terms.pdf" })).text).toContain("Goods leave the warehouse on Mondays.");
  });

  test("each hostile file is one problem, and the others are read", async () => {
    const whole = await pdf("Whole", ["a page"]);
    const bomb = new JSZip();
    const document = await JSZip.loadAsync(await wordDocument([{ text: "x" }]));
    for (const [name, file] of Object.entries(document.files)) bomb.file(name, await file.async("uint8array"));
    bomb.file("word/document.xml", Buffer.alloc(300 * 1024 * 1024, " "));
    folder.write({
      "bomb.docx": await bomb.generateAsync({ type: "uint8array", compression: "DEFLATE", compressionOptions: { level: 1 } }),
      "cut.pdf": whole.subarray(0, 200),
      "noise.pdf": Buffer.from("%PDF-1.7 and nothing more"),
      "noise.docx": Buffer.from("PK no archive"),
      "binary.txt": Buffer.from([65, 0, 66]),
      "deep.html": "<div>".repeat(50_000),
      "good.md": "# Good\n\nThis one survives.",
    });
    source = createDocumentsSource({ namespace: "handbook", folder: folder.path, waitMs: 110_000, readMemoryMiB: 128, readTimeoutMs: 60_000 });
    const problems = await problemsOf(source);
    for (const name of ["bomb.docx", "cut.pdf", "noise.pdf", "noise.docx", "binary.txt"]) expect(problems.filter((problem) => problem.startsWith(`${name}: `)), name).toHaveLength(1);
    expect(problems.find((problem) => problem.startsWith("bomb.docx"))).toBe("bomb.docx: reading it takes more than 128 MiB of memory");
    expect((await search("survives")).passages).toMatchObject([{ document: "good.md" }]);
    expect(source.state.kind).toBe("ready");
  });

  test("a file that takes too long is given up, and the next one has its own thread", async () => {
    folder.write({ "slow.md": `${"a_".repeat(200_000)}\n\n${"* ".repeat(100_000)}x\n`, "z.txt": "quick" });
    source = createDocumentsSource({ namespace: "handbook", folder: folder.path, cacheFolder: join(folder.path, ".state"), waitMs: 100_000, readTimeoutMs: 1 });
    expect(await problemsOf(source)).toEqual(["slow.md: reading it takes longer than 0.001 s", "z.txt: reading it takes longer than 0.001 s"]);
  });
});
