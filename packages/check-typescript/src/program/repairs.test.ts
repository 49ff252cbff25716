import { describe, expect, test } from "vitest";
import { accepted, first, rejected, run } from "../fixtures/harness.ts";
import type { Calls } from "../fixtures/harness.ts";

const get = 'tools.documents.get_document({ document_id: "d" })';

describe("findRepairs", () => {
  test.each([
    ["at its use", `return ${get}.content;`, "text"],
    ["in a constant", `const d = ${get};\nreturn d.content + d.status;`, "textopen"],
    ["in a pattern", `const { content } = ${get};\nreturn content;`, "text"],
    ["in a loop", `const out = [];\nfor (const tag of ${get}.tags) out.push(tag);\nreturn out;`, ["a"]],
    ["as an iterable", `const { items } = await tools.documents.list_documents();\nfor (const i of tools.documents.list_documents().items) items.push(i);\nreturn items;`, []],
    ["in a function", `const read = async () => { const d = ${get}; return d.content; };\nreturn await read();`, "text"],
  ])("adds a missing await %s and says so", async (_name, text, value) => {
    const report = accepted(text);
    expect(report.repairs.map(({ kind }) => kind)).toContain("await_added");
    expect(await run(report.code)).toEqual(value);
  });

  test("adds the await of a call whose result is given to another tool", async () => {
    const calls: Calls = [];
    const report = accepted(`const d = ${get};\nawait tools.crm.save_customer({ id: d.document_id, note: "n" });\nreturn 1;`);
    await run(report.code, calls);
    expect(calls).toEqual([["documents.get_document", { document_id: "d" }], ["crm.save_customer", { id: "d1", note: "n" }]]);
  });

  test("leaves promises alone that are meant to be promises", () => {
    expect(accepted(`const a = ${get};\nconst b = ${get};\nreturn (await Promise.all([a, b])).map((d) => d.content);`).repairs).toEqual([]);
    expect(first(rejected(`const a = ${get};\nconst both = await Promise.all([a]);\nreturn a.content + both;`))).toContain("a is a promise: it was not awaited");
  });

  test("does not await in a function that cannot", () => {
    expect(first(rejected(`function read() { return ${get}.content; }\nreturn read();`))).toContain("is a promise");
  });

  test("repairs a misspelt field that is read, at its place in the text", async () => {
    const report = accepted(`const d = await ${get};\nreturn { text: d.contnt };`);
    expect(report.repairs).toEqual([{ kind: "renamed", message: "Read content instead of contnt, the only name near to it", line: 2, column: 18 }]);
    expect(await run(report.code)).toEqual({ text: "text" });
  });

  test("repairs a misspelt field in a pattern", async () => {
    const report = accepted(`const { contnt } = await ${get};\nreturn contnt;`);
    expect(await run(report.code)).toBe("text");
  });

  test("repairs a misspelt tool that only reads, and its namespace", () => {
    expect(accepted('return await tools.documents.get_documnt({ document_id: "d" });').reach.tools).toEqual(["documents.get_document"]);
    expect(accepted('return await tools.documnts.get_document({ document_id: "d" });').reach.tools).toEqual(["documents.get_document"]);
  });

  test("repairs several places in one go", () => {
    const report = accepted(`const d = ${get};\nconst e = await tools.documents.get_documnt({ document_id: "e" });\nreturn d.contnt + e.statos;`);
    expect(report.repairs.map(({ kind }) => kind).sort()).toEqual(["await_added", "renamed", "renamed", "renamed"]);
  });

  test.each([
    ["towards a write", 'await tools.documents.update_documnt({ document_id: "d", fields: {} });\nreturn 1;'],
    ["towards a destructive tool", 'await tools.documents.delete_documnt({ document_id: "d" });\nreturn 1;'],
    ["to a namespace for a write", 'await tools.documnts.delete_document({ document_id: "d" });\nreturn 1;'],
    ["in an argument of a write", `const d = await ${get};\nawait tools.crm.save_customer({ id: d.documnt_id, note: "n" });\nreturn 1;`],
    ["in a constant that a write is given", `const d = await ${get};\nconst id = d.documnt_id;\nconst copy = { id, note: "n" };\nawait tools.crm.save_customer(copy);\nreturn 1;`],
    ["in a list that a write is given", `const d = await ${get};\nconst ids = [];\nids.push(d.documnt_id);\nfor (const id of ids) await tools.crm.save_customer({ id, note: "n" });\nreturn 1;`],
    ["in a pattern that a write is given", `const { documnt_id } = await ${get};\nawait tools.crm.save_customer({ id: documnt_id, note: "n" });\nreturn 1;`],
    ["where the field is set", `const d = await ${get};\nd.contnt = "x";\nreturn d;`],
    ["where two names are near", 'const d: { total_a: number; total_b: number } = { total_a: 1, total_b: 2 };\nreturn d.total_;'],
  ])("never renames %s", (_name, text) => {
    expect(rejected(text).repairs.filter(({ kind }) => kind === "renamed")).toEqual([]);
  });
});
