import { CallgateError } from "@callgate/contract";
import type { Checker, CheckReport, Lane } from "@callgate/contract";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { first, namespaces } from "./fixtures/harness.ts";
import { createPythonChecker } from "./python-checker.ts";
import type { PythonCheckerOptions } from "./python-checker.ts";

const shared = createPythonChecker({ modules: ["pandas"] });
afterAll(() => shared.close());
const limits = { sourceBytes: 4 * 1024 * 1024 };
const check = (text: string, lane: Lane = "execute"): Promise<CheckReport> => shared.check({ text, namespaces, lane, limits }, new AbortController().signal);

const open: Checker[] = [];
function create(options?: PythonCheckerOptions): (text: string, signal?: AbortSignal) => Promise<CheckReport> {
  const checker = createPythonChecker(options);
  open.push(checker);
  return (text, signal = new AbortController().signal) => checker.check({ text, namespaces, lane: "execute", limits }, signal);
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((checker) => checker.close()));
});

const timeout = 60_000;

describe("createPythonChecker", { timeout }, () => {
  test.each(["from tools import hr\nhr.get()", "import tools.hr\n1", "from tools.hr import get\nget()", "from tools import aio\nawait aio.hr.get()", "import tools\ntools.hr.get()", "import hr\n1", "hr.get()"])("names the source of a namespace that cannot be reached: %j", async (text) => {
    const unavailable = [{ namespace: "hr", message: "The source hr is down: it was unplugged.", retryable: true }];
    const report = await shared.check({ text, namespaces, unavailable, lane: "execute", limits }, new AbortController().signal);
    expect(first(report)).toMatch(/^error SOURCE_UNAVAILABLE [12]:\d+ The source hr is down: it was unplugged\.$/);
    expect(first(await check(text))).not.toContain("SOURCE_UNAVAILABLE");
  });

  test("pages of a tool are of the page's type, awaited in aio, and calls of that tool", async () => {
    const stub = `from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, NotRequired, TypedDict


class ListOutput(TypedDict):
    page: list[str]
    next: NotRequired[dict[str, Any]]


class ListItemsTool:
    def __call__(self, *, size: int = ...) -> ListOutput:
        """Lists."""
        ...

    def pages(self, *, size: int = ...) -> Iterator[list[str]]: ...


list_items: ListItemsTool
`;
    const paged = [{ namespace: "shop", digest: "shop-1", tools: [{ name: "list_items", effect: "read" as const }], text: stub }];
    const judge = (text: string): Promise<CheckReport> => shared.check({ text, namespaces: paged, lane: "query", limits }, new AbortController().signal);
    expect(await judge("from tools import shop, aio\nwords = [word.upper() for page in shop.list_items.pages(size=2) for word in page]\nmore = [word.upper() async for page in aio.shop.list_items.pages() for word in page]\nfirst = shop.list_items()['page']\nagain = (await aio.shop.list_items(size=3))['page']\n[words, more, first, again]")).toMatchObject({ kind: "ok", diagnostics: [], reach: { tools: ["shop.list_items"], effects: ["read"] } });
    for (const wrong of ["[word.uper() for page in shop.list_items.pages() for word in page]", "list(shop.list_items.pages(sise=1))", "[page for page in aio.shop.list_items.pages()]"]) expect([wrong, (await judge(`from tools import shop, aio\n${wrong}`)).kind]).toEqual([wrong, "rejected"]);
  });

  test("accepts a program that uses tools by every way of importing them", async () => {
    const report = await check(`from tools import documents, aio, ToolError
import tools.crm
import tools.documents as docs
from tools.documents import list_documents as listing

page = listing(limit=1)
try:
    page = listing(limit=5)
except ToolError as error:
    print(error.code, error.retryable)
found = await aio.gather(*[aio.documents.get_document(document_id=item["document_id"]) for item in page["items"]])
customer = tools.crm.find_customer(name="x")
docs.update_document(document_id="d", title=customer["name"])
[doc["content"] for doc in found if doc["status"] == "open"]
`);
    expect(report).toMatchObject({ kind: "ok", form: "script", lineOffset: 0, reach: { tools: ["crm.find_customer", "documents.get_document", "documents.list_documents", "documents.update_document"], effects: ["read", "write"] }, diagnostics: [] });
  });

  test.each([
    ["a misspelt tool", "from tools import documents\n\nx = documents.get_documnt(document_id='d')\nx", "error reportAttributeAccessIssue 3:15 There is no tool get_documnt in documents; did you mean get_document?"],
    ["a misspelt namespace", "from tools import documnts\ndocumnts", "error reportAttributeAccessIssue 1:19 There is no namespace documnts in tools; did you mean documents?"],
    ["a missing argument", "from tools import documents\nx = documents.get_document()\nx", "error reportCallIssue 2:5 documents.get_document needs the argument document_id"],
    ["an argument that is not there", "from tools import documents\nx = documents.get_document(document_id='d', revison=1)\nx", "error reportCallIssue 2:45 documents.get_document has no argument revison; did you mean revision?"],
    ["an argument of the wrong type", "from tools import documents\nx = documents.get_document(document_id=5)\nx", "error reportArgumentType 2:40 documents.get_document: the argument document_id must be str, not 5"],
    ["a word that is none of the list", "from tools import documents\nx = documents.list_documents(status='opn')\nx", "error reportArgumentType 2:37 documents.list_documents: the argument status must be one of 'open', 'closed', not 'opn'"],
    ["an argument by place", "from tools import documents\nx = documents.get_document('d')\nx", "error reportCallIssue 2:28 Arguments of tools are passed by name: documents.get_document(document_id=…, revision=…)"],
    ["a wrong field of a result", "from tools import documents\nx = documents.get_document(document_id='d')\nx['contnt']", "error reportGeneralTypeIssues 3:3 The result has no field contnt; did you mean content?"],
    ["a wrong field in a list of results", "from tools import documents\n[d['titel'] for d in documents.list_documents()['items']]", "error reportGeneralTypeIssues 2:4 The result has no field titel; did you mean title?"],
    ["a field read like an attribute", "from tools import documents\nx = documents.get_document(document_id='d')\nx.content", 'error reportAttributeAccessIssue 3:3 A result is a dictionary: write ["content"], not .content'],
    ["a call that is never awaited", "from tools import aio\naio.documents.get_document(document_id='d')\n1", "error reportUnusedCoroutine 2:1 A call of tools.aio gives its result only when awaited: write await before it, or use the same tool of tools, which needs no await"],
    ["a result that was not awaited", "from tools import aio\nx = aio.documents.get_document(document_id='d')\nx['content']", "error reportIndexIssue 3:1 A call of tools.aio gives its result only when awaited: write await before it, or use the same tool of tools, which needs no await"],
    ["a namespace that was not imported", "documents.get_document(document_id='d')", "error reportUndefinedVariable 1:1 documents is a namespace of tools; import it first: from tools import documents"],
    ["a module that was not imported", "json.dumps({})", "error reportUndefinedVariable 1:1 json is a module; import it first: import json"],
    ["a word of another language", "x = null\nx", "error reportUndefinedVariable 1:5 null is not a word of Python; write None"],
    ["a syntax error", "x = [1,\ny = 2\n", 'error PY_SYNTAX 1:5 "[" was not closed'],
    ["a return in the middle", "if True:\n    return 1\n2", "error RETURN_OUTSIDE_FUNCTION 2:5 return works only in a function, or as the last line of the program. Put the program into def main(): … and end with main()"],
    ["await in a function that is not async", "import asyncio\ndef f():\n    await asyncio.sleep(1)\nf()", 'error PY_SYNTAX 3:5 "await" allowed only within async function'],
    ["a module that is not there", "import requests\n1", "error IMPORT_NOT_ALLOWED 1:8 The module requests cannot be imported here. A program has no network; what reaches other systems is a tool: from tools import <namespace>"],
    ["a misspelt module", "import os, jsn\n1", "error IMPORT_NOT_ALLOWED 1:12 The module jsn cannot be imported here. Did you mean json?"],
    ["a namespace imported as a module", "import documents\n1", "error IMPORT_NOT_ALLOWED 1:8 documents is a namespace of tools: write from tools import documents"],
    ["a namespace that is not there, by its module", "import tools.documnts\n1", "error IMPORT_NOT_ALLOWED 1:8 There is no namespace documnts in tools; there are: documents, crm"],
    ["a relative import", "from . import x\nx", "error IMPORT_NOT_ALLOWED 1:6 A program is one file: there is no module to import relative to it (.)"],
    ["a module of another version", "import compression\n1", undefined],
  ])("refuses %s, with its place and what to write instead", async (_name, text, expected) => {
    const report = await check(text);
    if (expected === undefined) return expect(report.kind).toBe("rejected");
    expect(first(report)).toBe(expected);
    expect(report.kind).toBe("rejected");
  });

  test("names the declaration that was violated and shows the line", async () => {
    const report = await check("from tools import documents\n  \nx = documents.get_document(id='d')\nx");
    expect(report.diagnostics[0]).toMatchObject({ declaration: "def get_document(*, document_id: str, revision: int = ...) -> GetDocumentOutput", excerpt: "x = documents.get_document(id='d')" });
    const field = await check("from tools import documents\nx = documents.get_document(document_id='d')\nx['contnt']");
    expect(field.diagnostics[0]).toMatchObject({ suggestions: ["content"], declaration: expect.stringContaining("class GetDocumentOutput(TypedDict):\n    document_id: str") });
  });

  test("lets pass what works: listed modules, untyped results, await and async for at module level, missing fields as warnings", async () => {
    const text = "import pandas as pd\nfrom tools import crm, documents, aio\nc = crm.find_customer(name='x')\ntotal = sum(row['n'] for row in c['rows'])\nasync def pages():\n    yield 1\nasync for page in pages():\n    total += page\nframe = pd.DataFrame(c)\ntitle = documents.get_document(document_id='d')['title']\nstatus = 'open' if total else 'closed'\ndef pick(word: str):\n    return documents.list_documents(status=word)\n(total, frame, title, pick(status), await aio.crm.find_customer(name='y'))";
    const report = await check(text);
    expect(report.diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(["warning reportTypedDictNotRequiredAccess", "warning reportArgumentType"]);
    expect(report.kind).toBe("ok");
  });

  const helpers = `import functools
from dataclasses import dataclass

@dataclass
class Price:
    cents: int

@functools.lru_cache(maxsize=8)
def add(a: int, b: int = 1) -> int:
    """Adds two numbers."""
    return a + b

async def later(text: str) -> str:
    return text

def price(cents: int, *, currency: str = "EUR") -> Price:
    return Price(cents)
`;
  const ofFunctions = createPythonChecker({ functions: { helpers } });
  afterAll(() => ofFunctions.close());
  const checkFunctions = (text: string): Promise<CheckReport> => ofFunctions.check({ text, namespaces, lane: "query", limits }, new AbortController().signal);

  test("a module of functions: what is right passes, and none of it is reach", async () => {
    const report = await checkFunctions("import helpers\nfrom helpers import add, later, price as cost, Price\nx: Price = cost(5, currency='USD')\n[add(1, 2), add(5), helpers.add(x.cents), await later('x')]");
    expect(report).toMatchObject({ kind: "ok", diagnostics: [], reach: { tools: [], effects: [] } });
  });

  test("a module of functions: a number that may well be whole is a warning", async () => {
    const report = await checkFunctions("import json\nfrom helpers import add\nn: float = json.loads('5')\nadd(n)");
    expect([report.kind, report.diagnostics.map(({ severity, code, line, column }) => [severity, code, line, column])]).toEqual(["ok", [["warning", "reportArgumentType", 4, 5]]]);
  });

  test.each([
    ["a misspelt function", "from helpers import ad\nad(1)", "error reportAttributeAccessIssue 1:21 There is no ad in helpers; did you mean add?"],
    ["a misspelt function of the module", "import helpers as h\n\nh.lter('x')", "error reportAttributeAccessIssue 3:3 There is no lter in helpers; did you mean later?"],
    ["a missing argument", "from helpers import add\nx = add()\nx", "error reportCallIssue 2:5 helpers.add needs the argument a"],
    ["an argument that is not there", "import helpers\nx = helpers.price(1, curency='EUR')\nx", "error reportCallIssue 2:22 helpers.price has no argument curency; did you mean currency?"],
    ["too many arguments", "from helpers import price\nprice(1, 'EUR')", "error reportCallIssue 2:10 helpers.price takes fewer arguments by place: it is def price(cents: int, *, currency: str = \"EUR\") -> Price"],
    ["an argument of the wrong type", "from helpers import add\n1\nadd(2, b='3')", "error reportArgumentType 3:10 helpers.add: the argument b must be int, not '3'"],
    ["a field of a result", "from helpers import price\nprice(1).cent", 'error reportAttributeAccessIssue 2:10 Cannot access attribute "cent" for class "Price": Attribute "cent" is unknown'],
    ["a result that was not awaited", "from helpers import later\nlater('x').upper()", "error reportAttributeAccessIssue 2:12 An async function gives its result only when awaited: write await before the call"],
    ["a module that is none", "import helpes\n1", "error IMPORT_NOT_ALLOWED 1:8 The module helpes cannot be imported here. Did you mean helpers?"],
  ])("a module of functions: refuses %s", async (_name, text, expected) => {
    expect(first(await checkFunctions(text))).toBe(expected);
  });

  test("a block of a session: names of blocks before are there, others are missed, and it needs no value", async () => {
    const blockOf = (text: string, known: readonly string[]): Promise<CheckReport> => shared.check({ text, namespaces, limits, lane: "execute", block: { known } }, new AbortController().signal);
    expect(await blockOf("total = total + 1\nfor p in prices: print(p)\nx: Shape = make()\ny = 1", ["total", "prices", "Shape", "make"])).toMatchObject({ kind: "ok", diagnostics: [] });
    expect(first(await blockOf("a = 1\ntotals + a", ["total"]))).toBe("error reportUndefinedVariable 2:1 totals is not defined");
    expect((await blockOf("from tools import documents\ndocuments.get_document(document=1)", ["total"])).kind).toBe("rejected");
  });

  test.each(["# type: ignore", "# pyright: ignore", "# pyright: ignore[reportUndefinedVariable]", "# noqa", "# noqa: F821  # type: ignore[name-defined]", "#type:ignore"])("%s hides nothing", async (comment) => {
    const report = await check(`${comment}\n# pyright: basic, reportUndefinedVariable=false\nx = missing ${comment}\nx`);
    expect(first(report)).toBe("error reportUndefinedVariable 3:5 missing is not defined");
  });

  test("a comment hides nothing behind a text that parsers read differently", async () => {
    const report = await check("x = 'abc # pyright: ignore\ny = missing # pyright: ignore\ny");
    expect(report.kind).toBe("rejected");
  });

  test("takes the value of a return on the last line, and keeps the columns", async () => {
    const report = await check("x = 1\nreturn {\n  'x': x,\n}\n");
    expect(report).toMatchObject({ kind: "ok", code: "x = 1\n{\n  'x': x,\n}\n", shiftedLines: [{ line: 2, columns: 7 }], repairs: [{ kind: "return_removed", line: 2, column: 1 }], diagnostics: [] });
    expect(await check("1 + 1")).toMatchObject({ kind: "ok", form: "expression", diagnostics: [] });
  });

  test("says when a program has no value or drops a result", async () => {
    expect(first(await check("rows = [1]\nrows = sorted(rows)"))).toBe("warning NO_VALUE 2:1 The program has no value: its result will be None. End it with rows as an expression on its own line");
    expect(first(await check("for x in [1]:\n    print(x)"))).toMatch(/^advice NO_VALUE 1:1/);
    expect(first(await check("from tools import documents\ndocuments.list_documents()\n1"))).toMatch(/^warning RESULT_DROPPED 2:1 The result of documents.list_documents is not used/);
  });

  test("a reachable write is an error in the query lane, whatever name it goes by", async () => {
    for (const text of ["from tools import documents\ndocuments.delete_document(document_id='d')", "from tools.documents import delete_document as tidy\nf = tidy\nf(document_id='d')", "import tools\nd = tools.documents\nd.delete_document(document_id='d')", "from tools import aio\nawait aio.documents.delete_document(document_id='d')", "from tools import documents\nmap(documents.delete_document, [])"]) {
      expect((await check(text, "query")).diagnostics.map(({ code }) => code)).toContain("LANE_WRITE");
      expect((await check(text)).diagnostics.map(({ code }) => code)).not.toContain("LANE_WRITE");
    }
    expect(await check("from tools import documents\ndocuments.list_documents()", "query")).toMatchObject({ kind: "ok", diagnostics: [] });
  });

  test.each([
    ["getattr of a namespace", "from tools import documents\ngetattr(documents, 'get' + '_document')(document_id='d')", ["documents.delete_document", "documents.get_document", "documents.list_documents", "documents.update_document"]],
    ["getattr of tools", "import tools\ngetattr(tools, 'x')", "*"],
    ["eval", "eval('1')", "*"],
    ["importlib", "import importlib\nimportlib.import_module('tools')", "*"],
    ["sys.modules", "import sys\nsys.modules['tools']", "*"],
    ["a namespace in a list", "from tools import documents, crm\n[n for n in [crm]]", ["crm.find_customer", "crm.save_customer"]],
    ["one name for two", "from tools import documents, crm\nx = documents\nx = crm\nx", "*"],
    ["a star import", "from tools.documents import *\nget_document(document_id='d')", "*"],
    ["a walk through classes", "().__class__.__subclasses__()", "*"],
  ])("the reach is wide for %s, and the query lane says so", async (_name, text, tools) => {
    const report = await check(text, "query");
    expect(report).toMatchObject({ kind: "ok", reach: { tools } });
    expect(report.diagnostics.map(({ code }) => code)).toContain("LANE_DYNAMIC");
  });

  test("advises on calls in sequence, paging without a bound, and calls made twice", async () => {
    expect(first(await check("from tools import documents\nout = []\nfor i in ['a', 'b']:\n    out.append(documents.get_document(document_id=i))\nout"))).toMatch(/^advice CALLS_IN_SEQUENCE 4:16 .*aio\.gather\(\*\[aio\.documents\.get_document\(…\)/);
    expect(first(await check("from tools import documents\ncursor = ''\nwhile True:\n    page = documents.list_documents(cursor=cursor)\n    cursor = page.get('next_cursor', '')\n    if not cursor:\n        break\ncursor"))).toMatch(/^advice PAGING_UNBOUNDED 4:12/);
    expect(first(await check("from tools import documents\na = documents.get_document(document_id='d')\nb = documents.get_document( document_id = 'd' )\n(a, b)"))).toMatch(/^advice CALL_REPEATED 3:5/);
    expect((await check("from tools import documents\nlast = ''\nfor i in ['a']:\n    last = documents.get_document(document_id=last)['content']\nlast")).diagnostics).toEqual([]);
  });

  test("answers in turn when asked at once", async () => {
    const reports = await Promise.all(["1", "x1", "2", "["].map((text) => check(text)));
    expect(reports.map(({ kind }) => kind)).toEqual(["ok", "rejected", "ok", "rejected"]);
  });

  test("text of any kind gets an answer", async () => {
    const word = fc.constantFrom("from tools import documents", "documents.get_document(", "def f(", "):", "\n    ", "\n", "return ", "await ", "f'{", "}'", '"""', "# pyright: ignore", "lambda x:", "[", "]", "{", "}", "*", "match x:", "case {", "\\", "\t", "\r", "\u2028", "0x", "1e", "é", "😀", "async for x in y", "class A(B):", "@", ":=", "...", ";", "\ud800");
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.array(word, { maxLength: 30 }).map((words) => words.join("")), fc.string({ unit: "binary", maxLength: 200 })), async (text) => {
        const report = await check(text);
        for (const { line, column } of report.diagnostics) expect(line >= 1 && column >= 1 && line <= text.split(/\r\n|\n|\r/).length + 1).toBe(true);
      }),
      { numRuns: 150, interruptAfterTimeLimit: 25_000 },
    );
  });
});

const deep: readonly (readonly [string, (count: number) => string])[] = [
  ["brackets", (n) => `x=${"[".repeat(n)}${"]".repeat(n)}`],
  ["calls", (n) => `x${"(".repeat(n)}${")".repeat(n)}`],
  ["format strings", (n) => "f'{".repeat(n)],
  ["not", (n) => `x=${"not ".repeat(n)}1`],
  ["binary operators", (n) => `x=${"1+".repeat(n)}1`],
  ["lambdas", (n) => `x=${"lambda:".repeat(n)}1`],
  ["members", (n) => `x${".a".repeat(n)}`],
  ["elif", (n) => `if a:\n pass\n${"elif a:\n pass\n".repeat(n)}`],
  ["indentation", (n) => Array.from({ length: Math.min(n, 2_000) }, (_, i) => `${" ".repeat(i)}if 1:`).join("\n")],
  ["decorators", (n) => `${"@a\n".repeat(n)}def f(): pass`],
];

describe("createPythonChecker, at its bounds", { timeout: 120_000 }, () => {
  test("answers texts at ten times the parser's bounds, and works for the next program", async () => {
    const ask = create({ cpuMs: 6_000 });
    for (const [name, make] of deep) {
      const report = await ask(make(2_500)).catch((thrown: unknown) => (CallgateError.is(thrown) ? thrown.code : thrown));
      expect(report === "CHECKER_FAILED" || (typeof report === "object" && report !== null && "kind" in report), name).toBe(true);
    }
    expect(await ask("1")).toMatchObject({ kind: "ok" });
  });

  test("ends a check that takes too long, without holding up the host, and works for the next program", async () => {
    const ask = create({ cpuMs: 1_500 });
    await ask("1");
    // A fast machine takes 4 s for a fifth of it, and the time grows faster than the text.
    const lines = 40_000;
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 20);
    // Literal arithmetic and long unions keep any type checker busy.
    const slow = `def f(a: int, b: str, c: bytes):\n  x = 1\n${Array.from({ length: lines }, (_, i) => `  while a:\n    x = [x, b if x else c, ${i}]\n    y${i} = x`).join("\n")}\nf`;
    expect((await ask(slow)).diagnostics[0]?.code).toBe("CHECK_TIMEOUT");
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(5);
    expect(await ask("1")).toMatchObject({ kind: "ok" });
  });

  test("says CHECKER_FAILED when its process cannot live, and stops when the signal says so", async () => {
    const ask = create({ memoryMiB: 12 });
    await expect(ask("1")).rejects.toMatchObject({ code: "CHECKER_FAILED" });
    const abort = new AbortController();
    // Before its process is there, and while it starts.
    const report = create()("1", abort.signal);
    setTimeout(() => abort.abort(new Error("no longer wanted")), 50);
    await expect(report).rejects.toThrow("no longer wanted");
  });

  test("replaces its process beside the work", async () => {
    const ask = create({ recycleChecks: 8 });
    for (let index = 0; index < 40; index++) expect((await ask(`from tools import documents\nd${index} = documents.get_document(document_id="${index}")\nd${index}["content"]`)).kind).toBe("ok");
  });

  test("holds itself to the bound for bytes, and is closed once and for all", async () => {
    const checker = createPythonChecker();
    const request = { text: "result = 12", namespaces: [], lane: "execute" as const, limits: { sourceBytes: 5 } };
    expect((await checker.check(request, new AbortController().signal)).diagnostics[0]?.code).toBe("SOURCE_TOO_LARGE");
    await checker.close();
    await expect(checker.check(request, new AbortController().signal)).rejects.toMatchObject({ code: "CLOSED" });
  });
});
