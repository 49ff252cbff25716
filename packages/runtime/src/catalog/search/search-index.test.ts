import type { JsonSchema } from "@callgate/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { specOf } from "./fixtures/retrieval-sets.ts";
import { createSearchIndex } from "./search-index.ts";
import type { SearchIndex } from "./search-index.ts";
import type { SearchableTool } from "./tool-terms.ts";

const tool = (name: string, description = "", more: { readonly namespace?: string; readonly purpose?: string; readonly input?: JsonSchema } = {}): SearchableTool => ({
  name,
  namespace: more.namespace ?? "",
  purpose: more.purpose,
  definitionDigest: `sha256:${name}`,
  spec: specOf(name, description, more.input),
});

const found = (index: SearchIndex, query: string, limit = 10): string[] => index.search(query, { limit }).map(({ name }) => name);

describe("createSearchIndex", () => {
  test("finds a tool by name, situation, tag, example, namespace, nested parameter and the values it may have", () => {
    const issue = tool("open_ticket", "Opens one", { namespace: "helpdesk", purpose: "Support desk" });
    const tools = [
      { ...issue, spec: { ...issue.spec, whenToUse: "A customer complains", tags: ["crm"], examples: [{ description: "Broken kettle", input: {} }] } },
      tool("send", "Sends", { input: { type: "object", properties: { letter: { type: "object", properties: { recipient: { description: "Addressee" }, kind: { enum: ["postcard"] } } } } } }),
    ];
    const index = createSearchIndex(tools);
    for (const query of ["tickets", "customer complaint?? complains", "crm", "kettle", "helpdesk", "support"]) expect(found(index, query)[0]).toBe("open_ticket");
    for (const query of ["recipient", "addressee", "letter", "postcards"]) expect(found(index, query)).toEqual(["send"]);
  });

  test("finds other forms of a verb, general synonyms and misspelt words", () => {
    const index = createSearchIndex([tool("delete_record", "Drops a record"), tool("create_issue", "Opens an issue")]);
    expect(found(index, "deleting")).toEqual(["delete_record"]);
    expect(found(index, "erase")).toEqual(["delete_record"]);
    expect(found(index, "isssue")).toEqual(["create_issue"]);
  });

  test("prefers the word itself to its other forms and synonyms", () => {
    const index = createSearchIndex([tool("remove_page"), tool("deleted_log"), tool("delete_page"), tool("other")]);
    expect(found(index, "delete")).toEqual(["delete_page", "deleted_log", "remove_page"]);
  });

  test("a name that no tool knows is looked up: tools that search gain", () => {
    const index = createSearchIndex([tool("credits", "Who made a film"), tool("search_films", "Search films by title"), tool("rate", "Rate a film")]);
    expect(found(index, "who made the film Solaris")).toEqual(["credits", "search_films", "rate"]);
    expect(index.search("who made the film Solaris", { limit: 3 })[1]?.score).toBeGreaterThan(index.search("who made the film", { limit: 3 })[1]?.score ?? 0);
  });

  test("folders of a path are no words of the task; the name of the file is", () => {
    const index = createSearchIndex([tool("home_lights"), tool("read_report")]);
    expect(found(index, "open /home/user/report.txt")).toEqual(["read_report"]);
  });

  test("beyond ten places come companions: of the same namespaces, for the steps, alike", () => {
    const crowd = Array.from({ length: 15 }, (_, index) => tool(`crm.page_${index}`, "Write a page", { namespace: "crm" }));
    const index = createSearchIndex([...crowd, tool("pdf.open", "Opens", { namespace: "pdf" }), tool("pdf.write_page", "Write a page of a book", { namespace: "pdf" }), tool("pdf.bind_book", "Bind a book", { namespace: "pdf" }), tool("sky.moon", "Phase", { namespace: "sky" })]);
    const names = found(index, "write a page of a book", 20);
    expect(names.slice(0, 2).toSorted()).toEqual(["pdf.bind_book", "pdf.write_page"]);
    expect(names).toContain("pdf.open");
    expect(names).not.toContain("sky.moon");
    expect(new Set(names).size).toBe(names.length);
    const scores = index.search("write a page of a book", { limit: 20 }).map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    // Few that fit are not padded.
    expect(found(index, "moon", 20)).toEqual(["sky.moon"]);
  });

  test("orders equal scores by name and answers an empty or foreign query with nothing", () => {
    const index = createSearchIndex([tool("b_thing"), tool("a_thing"), tool("c_thing")]);
    expect(found(index, "thing")).toEqual(["a_thing", "b_thing", "c_thing"]);
    expect([found(index, ""), found(index, "the of"), found(index, "qqqqqq"), found(index, "__proto__ constructor")]).toEqual([[], [], [], []]);
    expect([found(index, "thing", 2), found(index, "thing", 0), found(index, "thing", -1), found(createSearchIndex([]), "thing")]).toEqual([["a_thing", "b_thing"], [], [], []]);
  });

  // A word of this length was compared letter by letter with a matrix of its square: gigabytes, and the host stood still.
  test("a query of any length costs what a short one does", () => {
    const index = createSearchIndex([tool("a_thing")]);
    expect(found(index, "x".repeat(1_000_000))).toEqual([]);
    expect(found(index, `thing ${"x".repeat(1_000_000)}`)).toEqual(["a_thing"]);
  });

  test("what is outside a scope takes no place and leaves no trace: as if it were not there, scores included", () => {
    const word = fc.constantFrom("list", "user", "users", "Oslo", "page", "deletes", "remove", "search", "find", "open", "book");
    const text = fc.array(word, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(" "));
    const one = fc.record({ text, namespace: fc.constantFrom("a", "b", "c"), isVisible: fc.boolean() });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 40 }), text, fc.constantFrom(1, 10, 20), (rows, query, limit) => {
        const tools = rows.map((row, index) => ({ isVisible: row.isVisible, tool: tool(`${row.namespace}.t${index}`, row.text, { namespace: row.namespace }) }));
        const visible = tools.filter(({ isVisible }) => isVisible).map((each) => each.tool);
        const names = new Set(visible.map(({ name }) => name));
        const index = createSearchIndex(tools.map((each) => each.tool));
        const within = index.search(query, { limit, scope: index.scopeOf((name) => names.has(name)) });
        const alone = createSearchIndex(visible).search(query, { limit });
        expect(within.map(({ name }) => name)).toEqual(alone.map(({ name }) => name));
        for (const [place, { score }] of within.entries()) expect(score).toBeCloseTo(alone[place]?.score ?? NaN, 9);
      }),
      { numRuns: 200 },
    );
  });

  test("who may know of twenty tools among 100,000 that fit as well is shown those twenty", () => {
    const tools = Array.from({ length: 100_000 }, (_, index) => tool(`s${index % 100}.list_users_${index}`, "Lists users", { namespace: `s${index % 100}` }));
    const own = new Set(tools.flatMap(({ name }, index) => (index % 5_000 === 17 ? [name] : [])));
    const index = createSearchIndex(tools);
    const scope = index.scopeOf((name) => own.has(name));
    expect(new Set(index.search("list users", { limit: 20, scope }).map(({ name }) => name))).toEqual(own);
    expect(index.search("list users", { limit: 20, scope }).map(({ name }) => name)).toEqual(found(createSearchIndex(tools.filter(({ name }) => own.has(name))), "list users", 20));
  }, 60_000);
});
