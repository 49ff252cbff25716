import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createCallgate } from "./create-callgate.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cg-documents-"));
  mkdirSync(join(folder, "handbook"));
  writeFileSync(join(folder, "handbook", "refunds.md"), "# Refunds\n\nWithin fourteen days.\n");
  writeFileSync(join(folder, "handbook", "broken.pdf"), "no PDF");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a program of the read lane searches the documents of a configuration; what is broken is told, and the index is kept", async () => {
  const gate = await createCallgate({ folder, stateFolder: join(folder, "state"), documents: { handbook: { folder: "handbook", waitMs: 60_000 }, lost: { folder: "nowhere" } } });
  try {
    const run = await gate.run(`import { handbook } from "tools";\nconst { passages } = await handbook.search({ query: "days" });\nconst page = await handbook.read({ document: passages[0].document });\nreturn [passages[0].heading, page.next_offset];`, { lane: "query" });
    expect([run.status, run.value]).toMatchObject(["completed", { kind: "whole", value: ["Refunds", null] }]);
    expect(JSON.stringify(gate.problems)).toMatch(/broken\.pdf: it is no PDF/);
    expect(JSON.stringify(gate.problems)).toContain("nowhere");
    expect(readdirSync(join(folder, "state", "documents")).some((name) => name.endsWith(".db"))).toBe(true);
  } finally {
    await gate.close();
  }
});
