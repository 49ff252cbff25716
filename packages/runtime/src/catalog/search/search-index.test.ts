import { hash } from "node:crypto";
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
  test("finds a tool by name, situation, tag, example, namespace, nested parameter and the values it may have", async () => {
    const issue = tool("open_ticket", "Opens one", { namespace: "helpdesk", purpose: "Support desk" });
    const tools = [
      { ...issue, spec: { ...issue.spec, whenToUse: "A customer complains", tags: ["crm"], examples: [{ description: "Broken kettle", input: {} }] } },
      tool("send", "Sends", { input: { type: "object", properties: { letter: { type: "object", properties: { recipient: { description: "Addressee" }, kind: { enum: ["postcard"] } } } } } }),
    ];
    const index = await createSearchIndex(tools);
    for (const query of ["tickets", "customer complaint?? complains", "crm", "kettle", "helpdesk", "support"]) expect(found(index, query)[0]).toBe("open_ticket");
    for (const query of ["recipient", "addressee", "letter", "postcards"]) expect(found(index, query)).toEqual(["send"]);
  });

  test("finds other forms of a verb, general synonyms and misspelt words", async () => {
    const index = await createSearchIndex([tool("delete_record", "Drops a record"), tool("create_issue", "Opens an issue")]);
    expect(found(index, "deleting")).toEqual(["delete_record"]);
    expect(found(index, "erase")).toEqual(["delete_record"]);
    expect(found(index, "isssue")).toEqual(["create_issue"]);
  });

  test("prefers the word itself to its other forms and synonyms", async () => {
    const index = await createSearchIndex([tool("remove_page"), tool("deleted_log"), tool("delete_page"), tool("other")]);
    expect(found(index, "delete")).toEqual(["delete_page", "deleted_log", "remove_page"]);
  });

  test("a name that no tool knows is looked up: tools that search gain", async () => {
    const index = await createSearchIndex([tool("credits", "Who made a film"), tool("search_films", "Search films by title"), tool("rate", "Rate a film")]);
    expect(found(index, "who made the film Solaris")).toEqual(["credits", "search_films", "rate"]);
    expect(index.search("who made the film Solaris", { limit: 3 })[1]?.score).toBeGreaterThan(index.search("who made the film", { limit: 3 })[1]?.score ?? 0);
  });

  test("folders of a path are no words of the task; the name of the file is", async () => {
    const index = await createSearchIndex([tool("home_lights"), tool("read_report")]);
    expect(found(index, "open /home/user/report.txt")).toEqual(["read_report"]);
  });

  test("beyond ten places come companions: of the same namespaces, for the steps, alike", async () => {
    const crowd = Array.from({ length: 15 }, (_, index) => tool(`crm.page_${index}`, "Write a page", { namespace: "crm" }));
    const index = await createSearchIndex([...crowd, tool("pdf.open", "Opens", { namespace: "pdf" }), tool("pdf.write_page", "Write a page of a book", { namespace: "pdf" }), tool("pdf.bind_book", "Bind a book", { namespace: "pdf" }), tool("sky.moon", "Phase", { namespace: "sky" })]);
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

  test("orders equal scores by name and answers an empty or foreign query with nothing", async () => {
    const index = await createSearchIndex([tool("b_thing"), tool("a_thing"), tool("c_thing")]);
    expect(found(index, "thing")).toEqual(["a_thing", "b_thing", "c_thing"]);
    expect([found(index, ""), found(index, "the of"), found(index, "qqqqqq"), found(index, "__proto__ constructor")]).toEqual([[], [], [], []]);
    expect([found(index, "thing", 2), found(index, "thing", 0), found(index, "thing", -1), found(await createSearchIndex([]), "thing")]).toEqual([["a_thing", "b_thing"], [], [], []]);
  });

  // A word of this length was compared letter by letter with a matrix of its square: gigabytes, and the host stood still.
  test("a query of any length costs what a short one does", async () => {
    const index = await createSearchIndex([tool("a_thing")]);
    expect(found(index, "x".repeat(1_000_000))).toEqual([]);
    expect(found(index, `thing ${"x".repeat(1_000_000)}`)).toEqual(["a_thing"]);
  });

  test("what is outside a scope takes no place and leaves no trace: as if it were not there, scores included", async () => {
    const word = fc.constantFrom("list", "user", "users", "Oslo", "page", "deletes", "remove", "search", "find", "open", "book");
    const text = fc.array(word, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(" "));
    const one = fc.record({ text, namespace: fc.constantFrom("a", "b", "c"), isVisible: fc.boolean() });
    const likenessIn = (index: SearchIndex, seed: number): Float32Array => Float32Array.from(index.tools, ({ name }) => Number.parseInt(hash("sha1", `${seed}${name}`).slice(0, 4), 16) / 65_536);
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 40 }), text, fc.constantFrom(1, 10, 20), fc.option(fc.nat(), { nil: undefined }), async (rows, query, limit, seed) => {
        const tools = rows.map((row, index) => ({ isVisible: row.isVisible, tool: tool(`${row.namespace}.t${index}`, row.text, { namespace: row.namespace }) }));
        const visible = tools.filter(({ isVisible }) => isVisible).map((each) => each.tool);
        const names = new Set(visible.map(({ name }) => name));
        const [index, own] = [await createSearchIndex(tools.map((each) => each.tool)), await createSearchIndex(visible)];
        const likenessOf = (of: SearchIndex) => (seed === undefined ? undefined : likenessIn(of, seed));
        const within = index.search(query, { limit, scope: index.scopeOf((name) => names.has(name)), likeness: likenessOf(index) });
        const alone = own.search(query, { limit, likeness: likenessOf(own) });
        expect(within.map(({ name }) => name)).toEqual(alone.map(({ name }) => name));
        for (const [place, { score }] of within.entries()) expect(score).toBeCloseTo(alone[place]?.score ?? NaN, 6);
      }),
      { numRuns: 200 },
    );
  });

  test("what is alike in meaning is found without a word in common, and what is meant and said comes first", async () => {
    const index = await createSearchIndex([tool("cancel_subscription", "Ends a plan"), tool("list_plans", "Plans there are"), tool("weather", "Of tomorrow"), tool("moon", "Phase")]);
    const likeness = Float32Array.from(index.tools, ({ name }) => ({ cancel_subscription: 0.8, list_plans: 0.7 })[name] ?? 0.3);
    expect(index.search("quit paying me", { limit: 5 })).toEqual([]);
    expect(index.search("quit paying me", { limit: 5, likeness }).map(({ name }) => name)).toEqual(["cancel_subscription", "list_plans"]);
    expect(index.search("plans", { limit: 5, likeness })[0]?.name).toBe("list_plans");
    // No model knows a name that was made up; its word does.
    expect(index.search("moon", { limit: 5, likeness }).map(({ name }) => name)).toContain("moon");
  });

  test("who may know of twenty tools among 100,000 that fit as well is shown those twenty", async () => {
    const tools = Array.from({ length: 100_000 }, (_, index) => tool(`s${index % 100}.list_users_${index}`, "Lists users", { namespace: `s${index % 100}` }));
    const own = new Set(tools.flatMap(({ name }, index) => (index % 5_000 === 17 ? [name] : [])));
    const index = await createSearchIndex(tools);
    const scope = index.scopeOf((name) => own.has(name));
    expect(new Set(index.search("list users", { limit: 20, scope }).map(({ name }) => name))).toEqual(own);
    expect(index.search("list users", { limit: 20, scope }).map(({ name }) => name)).toEqual(found(await createSearchIndex(tools.filter(({ name }) => own.has(name))), "list users", 20));
  }, 60_000);
});
