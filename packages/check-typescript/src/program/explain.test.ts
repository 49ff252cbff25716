import { describe, expect, test } from "vitest";
import { check, first, rejected } from "../fixtures/harness.ts";

const doc = 'const d = await tools.documents.get_document({ document_id: "d" });\n';

/** What a model reads. When one of these changes, read it as the model would before changing the copy here. */
const golden: readonly (readonly [text: string, message: string])[] = [
  [`${doc}return d.body;`, "error TS2339 2:10 There is no field body on d. It has document_id, content, title, tags, status"],
  [`${doc}await tools.documents.update_document({ document_id: d.documnt_id, fields: {} });`, "error TS2551 2:56 There is no field documnt_id on d; did you mean document_id? It has document_id, content, title, tags, status"],
  ['return await tools.documents.get_document({ id: "d" });', "error TS2353 1:45 documents.get_document takes no id; did you mean document_id? It takes document_id, revision?"],
  ["return await tools.documents.get_document({ document_id: 5 });", "error TS2322 1:45 documents.get_document takes document_id as string, not number"],
  ["return await tools.documents.get_document();", "error TS2554 1:30 documents.get_document takes one object with its arguments; it takes { document_id: string; revision?: number | undefined; }"],
  ["return await tools.documents.get_document({ revision: 1 });", "error TS2345 1:43 documents.get_document also needs document_id"],
  ["return await tools.documents.update_document({});", "error TS2345 1:46 documents.update_document also needs document_id, fields"],
  ['return await tools.documents.update_document({ document_id: "a", fields: { titel: "x" } });', "error TS2561 1:76 fields of documents.update_document takes no titel; did you mean title? It takes title?, content?"],
  ['await tools.documents.delete_documnt({ document_id: "d" });', "error TS2551 1:23 There is no tool delete_documnt in tools.documents; did you mean delete_document? It has get_document, list_documents, update_document, delete_document"],
  ["return await tools.github.list_issues({});", "error TS2339 1:20 There is no namespace github in tools. Namespaces: documents, crm"],
  ['return await tools["githbu"].list_issues({});', "error TS7053 1:14 There is no namespace githbu in tools. Namespaces: documents, crm"],
  ['return await tools["docments"].get_document({ document_id: "d" });', "error TS7053 1:14 There is no namespace docments in tools; did you mean documents? Namespaces: documents, crm"],
  ['return await tools.documents["get_documnt"]({ document_id: "d" });', "error TS7053 1:14 There is no tool get_documnt in tools.documents; did you mean get_document? It has get_document, list_documents, update_document, delete_document"],
  [`${doc}return d["body"];`, "error TS7053 2:8 There is no field body on d. It has document_id, content, title, tags, status"],
  [`${doc}const s: string = "";\nreturn d["body"];`, "error TS7053 3:8 There is no field body on d. It has document_id, content, title, tags, status"],
  ["return await tools.get_document({});", "error TS2339 1:20 get_document is a tool, not a namespace; write tools.documents.get_document"],
  ["return await tools.crm.get_document({});", "error TS2339 1:24 There is no tool get_document in tools.crm; did you mean tools.documents.get_document? It has find_customer, save_customer"],
  ["return documents.get_document({});", 'error TS2304 1:8 documents is not imported; write tools.documents, or import { documents } from "tools"'],
  ["return await get_document({});", "error TS2304 1:14 get_document is a tool and is not imported; write tools.documents.get_document"],
  ["return await fetch('http://x');", 'error TS2304 1:14 fetch does not exist here. A program has no network; use a tool that makes the request, and find one with await tools.search("http request")'],
  ["return process.env.KEY;", "error TS2591 1:8 process does not exist here. A program has no process, environment or arguments; what it needs comes from tools or is written into it"],
  ["code_mode_17;\nreturn org_id;", "error TS2304 1:1 code_mode_17 is not declared. Each run is fresh: variables of earlier runs are gone, their results are read with results.read(handle)"],
  ['import { readFile } from "node:fs/promises";\nreturn 1;', 'error IMPORT_NOT_ALLOWED 1:1 Cannot import "node:fs/promises": only "tools" and "tools/<namespace>" can be imported; a program has no files; use a tool of a filesystem source, and find one with await tools.search("read a file")'],
  ['import axios from "axios";\nreturn 1;', 'error IMPORT_NOT_ALLOWED 1:1 Cannot import "axios": only "tools" and "tools/<namespace>" can be imported; a program has no network; use a tool that makes the request, and find one with await tools.search("http request")'],
  ['import { documents } from "documents";\nreturn 1;', 'error IMPORT_NOT_ALLOWED 1:1 Cannot import "documents": only "tools" and "tools/<namespace>" can be imported; the namespace is "tools/documents"'],
  ['import x from "tools/documents";\nreturn 1;', 'error IMPORT_FORM 1:1 "tools/documents" has no default export; write import * as x from "tools/documents"'],
  ['import tools from "tools";\nreturn 1;', 'error IMPORT_FORM 1:1 "tools" has no default export; write import { <namespace> } from "tools", or use the global tools'],
  ['import { documnts } from "tools";\nreturn 1;', 'error IMPORT_NOT_FOUND 1:10 "tools" has no documnts; did you mean documents?'],
  ['import { documents } from "tools/documents";\nreturn 1;', 'error IMPORT_NOT_FOUND 1:10 Write import * as documents from "tools/documents", or import { documents } from "tools"'],
  ['import { get_document } from "tools";\nreturn 1;', 'error IMPORT_NOT_FOUND 1:10 get_document is a tool of documents; write import { get_document } from "tools/documents"'],
  ['import "tools/documnts";\nreturn 1;', 'error IMPORT_NOT_FOUND 1:1 There is no module "tools/documnts"; did you mean "tools/documents"?'],
  ['const fs = require("fs");\nreturn fs;', 'error REQUIRE_NOT_SUPPORTED 1:12 require does not exist here; write import { namespace } from "tools", or use the global tools'],
  ['return await import("tools/" + name);', 'error IMPORT_DYNAMIC 1:14 import() takes one literal, "tools" or "tools/<namespace>"; for a tool whose name is computed use tools[namespace][name]'],
  ["return import.meta.url;", "error IMPORT_META 1:8 A program has no import.meta: it has no file and no address"],
  [`${doc}return JSON.parse(d).x;`, 'error TS2345 2:19 JSON.parse takes text, and d is already data: { document_id: string; content: string; title?: string | undefined; tags: string[]; status: "open" | "closed"; }. Use it as it is'],
  ["const n: number = 'str';\nreturn n;", "error TS2322 1:7 Type 'string' is not assignable to type 'number'."],
  ["const x = 5;\nx = 6;\nreturn x;", "error TS2588 2:1 Cannot assign to 'x' because it is a constant."],
  ["return <div>hello</div>;", "error JSX_NOT_SUPPORTED 1:8 JSX is not supported: nothing here renders it. Build the text with template strings"],
  ["return { a: 1 ", "error TS1005 1:14 The program ends too early: '}' expected. Something is not closed, or the text was cut off"],
  ["if (true) { return 1; }\n}\nreturn 2;", "error TS1128 2:1 This } closes nothing that was opened: there is one } too many before it or here"],
  ["export default async function ({ tools, input }) { return 1; }", "error PROGRAM_TAKES_ARGUMENTS 1:32 The program's function is called without arguments, but takes ({ tools, input }). Tools are in the global tools, or import { namespace } from \"tools\"; give other parameters a default"],
  ["function a() { return b(); }\nfunction b() { return a(); }", "error NOTHING_CALLED 1:1 The program declares a, b and calls none of them; end it with return await b()"],
  ["class C { accessor x = 1; }\nreturn new C();", "error ACCESSOR_NOT_SUPPORTED 1:11 accessor fields are not supported; write a getter and a setter"],
  ["let a = 1, b = 2;\nreturn a <!--b;", "error HTML_COMMENT 2:10 <!-- starts a comment in JavaScript; put spaces between < and ! and --"],
  ['imp\\u006frt("fs")', "error TS1260 1:1 Keywords cannot contain escape characters; write the keyword as it is"],
  ["const a =\u180E1;\nreturn a;", "error TS1127 1:10 The character U+180E means nothing here; use a space, or put it into a string"],
  ["const a =\u200B1;\nreturn a;", "error FORBIDDEN_CHARACTER 1:10 The invisible character U+200B stands between words, where compilers and engines read it differently; use a space"],
  ["return $callgate.tools;", "error NAME_RESERVED 1:8 The name $callgate is the runtime's own; use another"],
  [`${doc}if (d.status === "opne") return 1;\nreturn 2;`, 'warning TS2367 2:5 d.status is never "opne"; did you mean "open"? It is "open" or "closed"'],
  [`${doc}return d.title.length;`, "warning TS18048 2:8 d.title may be undefined or null; use ?. or ??, or test it first"],
];

describe("explain", () => {
  test.each(golden)("code-mode 10, 17: %s", (text, message) => {
    expect(first(check(text))).toBe(message);
  });

  test("code-mode 10: shows the declaration that was violated, the line and the nearest names", () => {
    const [found] = rejected('\nreturn await tools.documents.get_document({ id: "d" });').diagnostics;
    expect(found).toMatchObject({ line: 2, excerpt: 'return await tools.documents.get_document({ id: "d" });', suggestions: ["document_id"] });
    expect(found?.declaration).toBe('function get_document(input: { document_id: string; revision?: number }): Promise<{ document_id: string; content: string; title?: string; tags: string[]; status: "open" | "closed" }>;');
  });

  test.each([
    ["implicit any parameters", "const add = (a, b) => a + b;\nfunction twice(f) { return f(f); }\nreturn add(1, 2);"],
    ["objects that grow", "const counts = {};\nfor (const k of ['a', 'b']) counts[k] = (counts[k] || 0) + 1;\ncounts.total = 2;\nreturn counts;"],
    ["arrays that start empty", "const rows = [];\nrows.push({ a: 1 });\nreturn rows.map((r) => r.a);"],
    ["unknown results", 'const r = await tools.crm.find_customer({ name: "x" });\nreturn r.rows.filter((row) => row.active).map(({ id }) => id);'],
    ["dates", "return (new Date(5) - new Date(3)) / 1000 + parseInt(3.5);"],
    ["caught errors", "try { await tools.crm.save_customer({ id: '1', note: 'n' }); } catch (error) { return { code: error.code, tool: error.tool, retry: error.retryable }; }\nreturn 1;"],
    ["ToolError", "try { return 1; } catch (error) { if (error instanceof ToolError) return error.details.x; throw error; }"],
    ["the guest's globals", "console.log(new URL('http://a/b').searchParams.get('x'), btoa('x'), crypto.randomUUID(), structuredClone({}));\ntext('x');\nprogress('half', 0.5);\nsetTimeout(() => {}, 1);\nreturn results.read('result://r/1', { limit: 5 });"],
    ["search and describe", "const found = await tools.search('documents', { limit: 3 });\nreturn tools.describe(found.map((tool) => tool.name));"],
    ["JSDoc types", "/** @param {string} a */\nfunction f(a) { return a; }\nreturn f(5);"],
  ])("passes plain JavaScript: %s", (_name, text) => {
    expect(check(text)).toMatchObject({ kind: "ok", diagnostics: [] });
  });
});
