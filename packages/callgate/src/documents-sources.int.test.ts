import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
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
    await gate.ready();
    const run = await gate.run(`import { handbook } from "tools";\nconst { passages } = await handbook.search({ query: "days" });\nconst page = await handbook.read({ document: passages[0].document });\nreturn [passages[0].heading, page.next_offset];`, { lane: "query" });
    expect([run.status, run.value]).toMatchObject(["completed", { kind: "whole", value: ["Refunds", null] }]);
    expect(JSON.stringify(gate.problems)).toMatch(/broken\.pdf: it is no PDF/);
    expect(JSON.stringify(gate.problems)).toContain("nowhere");
    expect(readdirSync(join(folder, "state", "documents")).some((name) => name.endsWith(".db"))).toBe(true);
  } finally {
    await gate.close();
  }
});

test("the rows of a table are documents: found, read, and followed; what is not there is told", async () => {
  const database = new DatabaseSync(join(folder, "kb.db"));
  database.exec("create table articles (id integer primary key, subject text, body text, pages integer); insert into articles values (1, 'Refunds', 'Within fourteen days.', 2), (2, 'Parking', 'Nobody parks here.', 1), (3, 'Bikes', null, 1); create table plain (text text)");
  const table = { database: "kb", name: "articles", title: "subject", text: ["body", "subject"], refreshMs: 1_000 };
  const documents = { kb: { table, waitMs: 60_000 }, lost: { table: { ...table, name: "artcles" } }, nowhere: { table: { ...table, database: "other" } }, keyless: { table: { database: "kb", name: "plain", text: ["text"] } } };
  const gate = await createCallgate({ folder, stateFolder: join(folder, "state"), sql: { kb: { file: "kb.db", disabled: true } }, documents });
  try {
    await gate.ready();
    const program = 'import { kb } from "tools";\nconst { passages } = await kb.search({ query: "nobody" });\nconst page = await kb.read({ document: passages[0].document });\nreturn [passages[0].document, passages[0].title, passages[0].heading, page.text.trim(), (await kb.list({})).documents.length];';
    expect((await gate.run(program, { lane: "query" })).value).toMatchObject({ kind: "whole", value: ["articles/2", "Parking", "body", "Nobody parks here.\n\nParking", 3] });
    const problems = JSON.stringify(gate.problems);
    for (const said of ['no table \\"artcles\\"', 'has no \\"other\\"', "no primary key"]) expect(problems).toContain(said);
    database.exec("update articles set body = 'Only guests park here.' where id = 2; delete from articles where id = 3; insert into articles values (4, 'Trains', 'Before planes', 1)");
    const titles = async (query: string): Promise<unknown> => (await gate.run(`import { kb } from "tools";\nreturn (await kb.search({ query: "${query}" })).passages.map((one) => one.title)`)).value;
    await expect.poll(() => titles("guests"), { timeout: 20_000 }).toMatchObject({ value: ["Parking"] });
    expect([await titles("bikes"), await titles("planes")]).toMatchObject([{ value: [] }, { value: ["Trains"] }]);
  } finally {
    await gate.close();
    database.close();
  }
}, 60_000);
