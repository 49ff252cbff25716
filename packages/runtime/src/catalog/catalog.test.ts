import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Effect, JsonSchema, Source, SourceTool, Tool, ToolSettings } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../source/define-tool.ts";
import { functionSource } from "../source/function-source.ts";
import { createCatalog } from "./catalog.ts";
import type { CatalogListing } from "./catalog.ts";

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ ...defineTool({ name, description: `Does ${name}`, input: { type: "object" }, handler: () => name }), ...more });

const source = (namespace: string, kind = "functions"): Source => ({ ...functionSource({ namespace, tools: [] }), kind });

function listing(namespace: string, tools: readonly Tool[], more: Partial<CatalogListing> & { kind?: string; claimed?: boolean; settings?: ToolSettings } = {}): CatalogListing {
  const { kind = "functions", claimed = false, settings, ...rest } = more;
  return { source: source(namespace, kind), listing: { tools: tools.map((one): SourceTool => ({ tool: one, claimed, ...(settings === undefined ? {} : { settings }) })), problems: [] }, ...rest };
}

const issue = tool("create-issue", {
  description: "Opens an issue. More text.",
  input: { type: "object", properties: { title: { type: "string" }, state: { enum: ["open", "closed"] } }, required: ["title"], additionalProperties: false },
  output: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
});

describe("createCatalog", () => {
  test("resolves exact qualified identifiers only", () => {
    const catalog = createCatalog([listing("my-tracker", [issue])]);
    expect(catalog.resolve("my_tracker.create_issue")?.tool.name).toBe("create-issue");
    for (const name of ["create_issue", "my-tracker.create-issue", "my_tracker.Create_issue", "constructor", "__proto__", "toString", ""]) {
      expect(catalog.resolve(name)).toBeUndefined();
    }
  });

  test("shows a tool in one line and its first sentence", () => {
    const found = createCatalog([listing("t", [issue])]).resolve("t.create_issue");
    expect(found?.signature).toBe('create_issue(input: { title: string; state?: "open" | "closed" }): Promise<{ id: number }>');
    expect(found?.line).toBe("Opens an issue.");
  });

  test("code-mode 12: refuses two tools with one identifier, naming both", () => {
    expect(() => createCatalog([listing("t", [tool("get-user"), tool("get_user")])])).toThrow(
      expect.objectContaining({ code: "TOOL_DUPLICATE", message: '"get-user" and "get_user" would both be t.get_user: none of them is registered. Rename one' }) as Error,
    );
  });

  test("code-mode 12, mcp-003: refuses two sources with one namespace, naming both", () => {
    expect(() => createCatalog([listing("a-b", []), listing("a.b", [], { kind: "mcp" })])).toThrow(
      expect.objectContaining({ code: "TOOL_DUPLICATE", message: 'Two sources claim the namespace "a_b": "a-b" and "a.b". Give one of them another name' }) as Error,
    );
  });

  test("leaves out both of an upstream's colliding tools and keeps the rest", () => {
    const catalog = createCatalog([listing("t", [tool("get-user"), tool("list"), tool("get_user")], { kind: "mcp" })]);
    expect(catalog.tools.map(({ name }) => name)).toEqual(["t.list"]);
    expect(catalog.problems).toEqual(['"get-user" and "get_user" would both be t.get_user: none of them is registered. Rename one']);
  });

  test("throws for a developer's malformed tool, naming field and path", () => {
    const bad = tool("pay", { input: { type: "object", properties: { amount: { type: "nunber" } } } });
    expect(() => createCatalog([listing("t", [bad])])).toThrow(/^The tool t\.pay is declared wrongly: input\/properties\/amount\/type: /);
    expect(() => createCatalog([listing("t", [tool("pay", { timeoutMs: -1 })])])).toThrow(/timeoutMs: .*got number -1/);
    expect(() => createCatalog([listing("t", [tool("pay", { effect: "delete" as Effect })])])).toThrow(/effect: .*got string "delete"/);
  });

  test("turns an upstream's malformed tool into a problem", () => {
    const catalog = createCatalog([listing("t", [tool("pay", { input: { $ref: "https://example.com/x.json" } }), tool("list")], { kind: "mcp" })]);
    expect(catalog.tools.map(({ name }) => name)).toEqual(["t.list"]);
    expect(catalog.problems).toEqual([
      'The tool t.pay is declared wrongly: input/$ref: "https://example.com/x.json" leads outside of the schema, and nothing is fetched; put the definition under $defs',
    ]);
  });

  test("counts a claimed read as a write until the user says what it does", () => {
    const effects = (effect?: Effect, claimed = true) => {
      const tools = ["read", "destructive"].map((own, index): SourceTool => ({ tool: tool(`t${index}`, { effect: own as Effect }), claimed, ...(effect === undefined ? {} : { settings: { effect } }) }));
      return createCatalog([{ source: source("t", "mcp"), listing: { tools, problems: [] } }]).tools.map((one) => one.tool.effect);
    };
    expect(effects()).toEqual(["write", "destructive"]);
    expect(effects("read")).toEqual(["read", "read"]);
    expect(effects(undefined, false)).toEqual(["read", "destructive"]);
  });

  test("repeats nothing that the user says writes, where its source said that it reads", () => {
    const retry = { retries: 2 };
    const repeated = (own: Effect, settings: ToolSettings = {}): boolean => createCatalog([listing("t", [tool("x", { effect: own, retry })], { kind: "mcp", claimed: true, settings })]).tools[0]?.tool.retry !== undefined;
    expect([repeated("read"), repeated("read", { effect: "read" }), repeated("write"), repeated("write", { effect: "write" })]).toEqual([true, true, true, true]);
    expect([repeated("read", { effect: "write" }), repeated("read", { effect: "destructive" })]).toEqual([false, false]);
  });

  test("says what a paged tool gives, or refuses it", () => {
    const page = { type: "object", properties: { page: { type: "array" } }, required: ["page"] };
    const { tools, problems } = createCatalog([listing("t", [tool("good", { paged: true, output: page }), tool("none", { paged: true }), tool("other", { paged: true, output: { type: "array" } })], { kind: "mcp" })]);
    expect(tools.map(({ name }) => name)).toEqual(["t.good"]);
    expect(problems).toEqual([expect.stringContaining("t.none is declared wrongly: output: a paged tool gives { page, next? }"), expect.stringContaining("t.other is declared wrongly")]);
  });

  test("keeps what was registered when the source changes its objects later", () => {
    const input = { type: "object", properties: { a: { type: "string" } } };
    const catalog = createCatalog([listing("t", [tool("x", { input })], { kind: "mcp" })]);
    input.properties.a.type = "number";
    expect(catalog.resolve("t.x")?.tool.input).toEqual({ type: "object", properties: { a: { type: "string" } } });
    expect(Object.isFrozen(catalog.resolve("t.x")?.tool.input)).toBe(true);
  });

  test("gives a tool a definition digest and an interface digest", () => {
    const digests = (more: Partial<Tool>, settings: ToolSettings = {}) => {
      const [one] = createCatalog([listing("t", [tool("x", more)], { settings })]).tools;
      return [one?.definitionDigest, one?.interfaceDigest];
    };
    const [definition, face] = digests({});
    expect(digests({ description: "Other" })).toEqual([expect.not.stringMatching(definition ?? ""), face]);
    expect(digests({ input: {} })).not.toContain(face);
    expect(digests({}, { effect: "read", labels: ["a"], sensitive: ["/input/a"], detect: { "/input": { card: false } } })).toEqual([definition, expect.not.stringMatching(face ?? "")]);
  });

  test("changes its own digest with names, definitions and effects only", () => {
    const digest = (tools: Tool[], settings: ToolSettings = {}) => createCatalog([listing("t", tools, { settings })]).digest;
    expect(digest([tool("a"), tool("b")])).toBe(digest([tool("b"), tool("a")]));
    expect(digest([tool("a")])).not.toBe(digest([tool("b")]));
    expect(digest([tool("a")])).not.toBe(digest([tool("a")], { effect: "read" }));
  });

  test("validates by JSON Schema first, then by the author's own schema", async () => {
    const input = z.object({ n: z.number(), tags: z.array(z.string()).default([]) });
    const own = defineTool({ name: "x", description: "X", input: input.refine(({ n }) => n % 2 === 0, { message: "must be even", path: ["n"] }), handler: () => null });
    const found = createCatalog([listing("t", [own])]).resolve("t.x");
    expect(await found?.validateInput({ n: "2" })).toEqual({ kind: "invalid", issues: [{ path: "/n", message: 'expected number, got string "2"' }] });
    expect(await found?.validateInput({ n: 1 })).toEqual({ kind: "invalid", issues: [{ path: "/n", message: "must be even" }] });
    expect(await found?.validateInput({ n: 2 })).toEqual({ kind: "ok", value: { n: 2, tags: [] } });
  });

  test("takes no argument as an empty object, and any output where none is declared", async () => {
    const found = createCatalog([listing("t", [tool("x")])]).resolve("t.x");
    expect(await found?.validateInput(undefined)).toEqual({ kind: "ok", value: {} });
    expect(await found?.validateOutput(new Date(0))).toEqual({ kind: "ok", value: new Date(0) });
  });
});

const catalogs = new URL("../../../../../shared/data/mcp/", import.meta.url);

describe.skipIf(!existsSync(catalogs))("createCatalog on 22 real MCP servers (skipped without ../shared/data/mcp)", () => {
  type Listed = { readonly name: string; readonly description?: string; readonly inputSchema: JsonSchema; readonly outputSchema?: JsonSchema };
  const files = existsSync(catalogs) ? readdirSync(catalogs).filter((name) => name !== "servers.json") : [];
  const listings = files.map((file) => {
    const { tools } = JSON.parse(readFileSync(new URL(file, catalogs), "utf8")) as { tools: Listed[] };
    const made = tools.map(({ name, description = "", inputSchema, outputSchema }) => tool(name, { description, input: inputSchema, ...(outputSchema === undefined ? {} : { output: outputSchema }) }));
    return listing(file.replace(".json", ""), made, { kind: "mcp", claimed: true });
  });

  test("holds the tools of all of them at once, each under its namespace", () => {
    const catalog = createCatalog(listings);
    const listed = listings.reduce((sum, one) => sum + one.listing.tools.length, 0);
    expect(files.length).toBeGreaterThanOrEqual(22);
    expect([catalog.tools.length, catalog.problems]).toEqual([listed, []]);
    expect(catalog.namespaces.length).toBe(files.length);
    // The names do collide between servers: without this the namespaces would prove nothing.
    const members = catalog.tools.map(({ member }) => member);
    expect(new Set(members).size).toBeLessThan(members.length);
  });

  test("code-mode 12: what types, search and dispatch know is the same set", async () => {
    const catalog = createCatalog(listings);
    const declared = catalog.declarations().flatMap(({ namespace, tools, text }) => {
      for (const { name } of tools) expect(text).toMatch(new RegExp(`export function ${name}[(<]`));
      return tools.map(({ name }) => `${namespace}.${name}`);
    });
    expect(declared.sort()).toEqual(catalog.tools.map(({ name }) => name).sort());
    for (const one of catalog.tools) {
      expect(catalog.resolve(one.name)).toBe(one);
      expect((await catalog.search(one.tool.name, { namespace: one.namespace, limit: 1_000 })).map(({ tool: { name } }) => name)).toContain(one.name);
    }
  });
});

describe("Catalog", () => {
  const catalog = createCatalog([listing("crm", [tool("get_user", { effect: "read" }), tool("list_users")]), listing("pay", [tool("send_money"), tool("list_payments")])]);
  const without = (name: string) => (one: { name: string }) => one.name !== name;

  test("search finds by words of the name and respects limit, namespace and visibility", async () => {
    const names = async (query: string, options: Parameters<typeof catalog.search>[1] = {}) => (await catalog.search(query, options)).map(({ tool: { name } }) => name);
    expect((await names("list the users"))[0]).toBe("crm.list_users");
    expect(await names("list", { limit: 1 })).toHaveLength(1);
    expect(await names("list", { namespace: "pay" })).toEqual(["pay.list_payments"]);
    expect(await names("list", { limit: 1, visible: without("crm.list_users") })).toEqual(["pay.list_payments"]);
  });

  test("namespaces are found by their tools, with purposes, counted among what is visible", async () => {
    const crm = listing("crm", [tool("find_customer"), tool("drop_customer")]);
    const many = createCatalog([{ ...crm, source: { ...crm.source, purpose: "Customers of the shop" } }, listing("mail", [tool("send_mail")]), listing("none", [])]);
    expect(await many.searchNamespaces("customers")).toEqual([{ namespace: "crm", purpose: "Customers of the shop", toolCount: 2 }]);
    expect((await many.searchNamespaces("")).map(({ namespace }) => namespace)).toEqual(["crm", "mail"]);
    expect((await many.searchNamespaces("customers", { visible: (one) => one.member !== "drop_customer" }))[0]?.toolCount).toBe(1);
    expect(await many.searchNamespaces("customers", { visible: (one) => one.namespace === "mail" })).toEqual([]);
  });

  test("search gives the same scores as if the hidden tools were not there", async () => {
    const alone = createCatalog([listing("crm", [tool("list_users")]), listing("pay", [tool("send_money"), tool("list_payments")])]);
    const scores = async (of: typeof catalog, visible?: (one: { name: string }) => boolean) => (await of.search("list users", visible === undefined ? {} : { visible })).map(({ tool: { name }, score }) => [name, score]);
    expect(await scores(catalog, without("crm.get_user"))).toEqual(await scores(alone));
  });

  test("nearest suggests visible names, best first", () => {
    expect(catalog.nearest("crm.get_usr")).toEqual(["crm.get_user"]);
    expect(catalog.nearest("getUser")).toContain("crm.get_user");
    expect(catalog.nearest("crm.get_usr", without("crm.get_user"))).not.toContain("crm.get_user");
    expect(catalog.nearest("zzzzzz")).toEqual([]);
  });

  test("declarations hold only what is visible and are made once", () => {
    const all = catalog.declarations();
    expect(all.map(({ namespace, tools }) => [namespace, tools])).toEqual([
      ["crm", [{ name: "get_user", effect: "read" }, { name: "list_users", effect: "write" }]],
      ["pay", [{ name: "list_payments", effect: "write" }, { name: "send_money", effect: "write" }]],
    ]);
    expect(catalog.declarations()).toBe(all);
    const some = catalog.declarations(({ namespace, name }) => namespace === "crm" && name !== "crm.get_user");
    expect(some.map(({ text }) => text).join()).not.toMatch(/get_user|pay/);
  });
});
