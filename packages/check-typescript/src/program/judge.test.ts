import { describe, expect, test } from "vitest";
import { accepted, check, first, rejected } from "../fixtures/harness.ts";

const get = 'tools.documents.get_document({ document_id: "d" })';
const codes = (text: string): string[] => check(text).diagnostics.map(({ severity, code }) => `${severity} ${code}`);

describe("findFloatingPromises", () => {
  test.each([
    ["a call as a statement", 'tools.crm.save_customer({ id: "1", note: "n" });\nreturn 1;'],
    ["a constant nobody reads", 'const p = tools.crm.save_customer({ id: "1", note: "n" });\nreturn 1;'],
    ["forEach with an async callback", '["a"].forEach(async (id) => { await tools.crm.save_customer({ id, note: "n" }); });\nreturn 1;'],
    ["a list of calls", '["a"].map((id) => tools.crm.save_customer({ id, note: "n" }));\nreturn 1;'],
    ["Promise.all without await", 'Promise.all(["a"].map((id) => tools.crm.save_customer({ id, note: "n" })));\nreturn 1;'],
    ["an async function of the program's own", `async function go() { return (await ${get}).content; }\ngo();\nreturn 1;`],
    ["a chain", 'tools.crm.save_customer({ id: "1", note: "n" }).then((r) => console.log(r.ok));\nreturn 1;'],
  ])("code-mode 9: refuses %s", (_name, text) => {
    expect(first(rejected(text))).toMatch(/^error FLOATING_PROMISE/);
  });

  test("warns where void says that it is meant", () => {
    for (const text of ["const p = Promise.reject(new Error('x'));\nreturn 1;", "const all = [1].map(async () => { throw new Error('x') });\nreturn 1;", "setTimeout(async () => { throw new Error('x') }, 1);\nreturn 1;", "queueMicrotask(async () => {});\nreturn 1;"]) expect(codes(text), text).toEqual(["warning FLOATING_PROMISE"]);
    expect(codes("const p = Promise.resolve(1);\nconst q = [p];\nreturn await q[0];")).toEqual([]);
    expect(codes('void tools.crm.save_customer({ id: "1", note: "n" });\nreturn 1;')).toEqual(["warning FLOATING_PROMISE"]);
  });

  test("accepts promises that are waited for later", () => {
    expect(codes(`const a = ${get};\nconst rest = await Promise.all([a]);\nreturn rest.length;`)).toEqual([]);
  });
});

describe("findDroppedResults", () => {
  test("warns of a read nobody keeps, not of a write", () => {
    expect(codes(`await ${get};\nreturn 1;`)).toEqual(["warning RESULT_DROPPED"]);
    expect(codes('await tools.crm.save_customer({ id: "1", note: "n" });\nreturn 1;')).toEqual([]);
  });

  test("warns of a method that only makes a new value", () => {
    expect(codes('const a = [3, 1];\na.slice(1);\nreturn a;')).toEqual(["warning RESULT_DROPPED"]);
  });
});

describe("findNoValue", () => {
  test.each([
    [`const d = await ${get};`, "return d"],
    ["const rows = [];\nrows.push(1);", "return rows"],
    ["let total = 0;\ntotal = 5;", "return total"],
  ])("code-mode 9: says what to return at the end of %s", (text, suggestion) => {
    expect(check(text).diagnostics).toContainEqual(expect.objectContaining({ code: "NO_VALUE", severity: "warning", suggestions: [suggestion] }));
  });

  test("says so when a called function returns nothing", () => {
    expect(codes('async function main() { await tools.crm.save_customer({ id: "1", note: "n" }); }\nmain();')).toEqual(["warning NO_VALUE"]);
  });

  test("only advises where something is printed", () => {
    expect(codes(`console.log((await ${get}).content);`)).toEqual(["advice NO_VALUE"]);
  });
});

describe("findLaneFaults", () => {
  test("refuses a write that is named in the read lane, however it is reached", () => {
    for (const text of [
      'return await tools.crm.save_customer({ id: "1", note: "n" });',
      'const { crm } = tools;\nreturn await crm.save_customer({ id: "1", note: "n" });',
      'const { crm: { save_customer } } = tools;\nreturn await save_customer({ id: "1", note: "n" });',
      'import { save_customer as s } from "tools/crm";\nreturn await s({ id: "1", note: "n" });',
      'const f = tools["crm"]["save_customer"];\nreturn await f({ id: "1", note: "n" });',
    ]) expect(check(text, "query").diagnostics.map(({ code }) => code)).toContain("LANE_WRITE");
    expect(accepted(`return await ${get};`, "query").diagnostics).toEqual([]);
  });

  test("warns where only the run can tell", () => {
    expect(check('const n = "get_document";\nreturn await tools.documents[n]({ document_id: "d" });', "query").diagnostics).toContainEqual(expect.objectContaining({ severity: "warning", code: "LANE_DYNAMIC" }));
  });
});

describe("findToolUses", () => {
  test.each([
    [`return (await ${get}).content;`, ["documents.get_document"], ["read"]],
    ["return 1;", [], []],
    ["const db = tools.documents;\nreturn await db.list_documents();", ["documents.list_documents"], ["read"]],
    ["const list = [tools.documents.list_documents, tools.crm.save_customer];\nreturn list.length;", ["crm.save_customer", "documents.list_documents"], ["read", "write"]],
    ["const pick = (ns) => ns;\nreturn typeof pick(tools.crm);", ["crm.find_customer", "crm.save_customer"], ["read", "write"]],
    ['const n = "crm";\nreturn typeof tools[n];', "*", ["read", "write", "destructive"]],
    ["return Object.keys(tools);", "*", ["read", "write", "destructive"]],
    ['return eval("1");', "*", ["read", "write", "destructive"]],
    ['return globalThis["tools"];', "*", ["read", "write", "destructive"]],
    ['return (() => 1).constructor("return tools")();', "*", ["read", "write", "destructive"]],
  ])("tells what can be reached by %s", (text, tools, effects) => {
    expect(accepted(text).reach).toEqual({ tools, effects });
  });
});

describe("findAdvice", () => {
  test("advises Promise.all for reads that need nothing of each other", () => {
    expect(codes('const out = [];\nfor (const id of ["a", "b"]) {\n  const d = await tools.documents.get_document({ document_id: id });\n  out.push(d.content);\n}\nreturn out;')).toEqual(["advice CALLS_IN_SEQUENCE"]);
  });

  test("does not where a round needs the one before it, may be the last, or writes", () => {
    for (const text of [
      'let id = "a";\nfor (const x of [1, 2]) {\n  const d = await tools.documents.get_document({ document_id: id });\n  id = d.content + x;\n}\nreturn id;',
      'for (const id of ["a", "b"]) {\n  const d = await tools.documents.get_document({ document_id: id });\n  if (d.status === "open") return d;\n}\nreturn 1;',
      'for (const id of ["a", "b"]) await tools.crm.save_customer({ id, note: "n" });\nreturn 1;',
      'for (let id = "a"; id !== ""; ) {\n  const d = await tools.documents.get_document({ document_id: id });\n  id = d.content;\n}\nreturn 1;',
      'let document_id = "a";\nfor (const x of [1, 2]) {\n  const d = await tools.documents.get_document({ document_id });\n  document_id = d.content + x;\n}\nreturn 1;',
      'let id = "a";\nfor (const x of [1, 2]) {\n  const input = { document_id: id };\n  const d = await tools.documents.get_document(input);\n  id = d.content + x;\n}\nreturn 1;',
      'let text = "";\nfor (let i = 0; i < 9 && text.length < 100; i++) {\n  const d = await tools.documents.get_document({ document_id: String(i) });\n  text += d.content;\n}\nreturn text;',
    ]) expect(codes(text)).toEqual([]);
    expect(codes('const out = [];\nfor (let i = 0; i < 9; i++) {\n  const d = await tools.documents.get_document({ document_id: String(i) });\n  out.push(d.content);\n}\nreturn out;')).toEqual(["advice CALLS_IN_SEQUENCE"]);
  });

  test("advises a bound for paging", () => {
    const paging = (condition: string): string => `let cursor;\nlet pages = 0;\nconst all = [];\ndo {\n  const page = await tools.documents.list_documents({ cursor });\n  all.push(...page.items);\n  cursor = page.next_cursor;\n  pages += 1;\n} while (${condition});\nreturn all;`;
    expect(codes(paging("cursor"))).toEqual(["advice PAGING_UNBOUNDED"]);
    expect(codes(paging("cursor && pages < 20"))).toEqual([]);
  });

  test("advises to keep what was already asked for", () => {
    expect(codes(`const a = await ${get};\nconst b = await ${get};\nreturn [a.content, b.content];`)).toEqual(["advice CALL_REPEATED"]);
    expect(codes(`const a = await ${get};\nawait tools.documents.update_document({ document_id: "d", fields: {} });\nconst b = await ${get};\nreturn [a.content, b.content];`)).toEqual([]);
  });
});
