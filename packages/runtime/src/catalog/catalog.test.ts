import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Effect, JsonSchema, Source, SourceTool, Tool } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../source/define-tool.ts";
import { functionSource } from "../source/function-source.ts";
import { createCatalog } from "./catalog.ts";
import type { CatalogListing } from "./catalog.ts";

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ ...defineTool({ name, description: `Does ${name}`, input: { type: "object" }, handler: () => name }), ...more });

const source = (namespace: string, kind = "functions"): Source => ({ ...functionSource({ namespace, tools: [] }), kind });

function listing(namespace: string, tools: readonly Tool[], more: Partial<CatalogListing> & { kind?: string; claimed?: boolean } = {}): CatalogListing {
  const { kind = "functions", claimed = false, ...rest } = more;
  return { source: source(namespace, kind), listing: { tools: tools.map((one): SourceTool => ({ tool: one, claimed })), problems: [] }, ...rest };
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

  test("what the user says is sensitive is added to what the tools say, their detectors are switched, and names of no tool are told", () => {
    const own = tool("read_mail", { sensitive: ["/output/*/from"], detect: { "/output": { card: false, email: false } } });
    const catalog = createCatalog([listing("t", [own, tool("send")], { sensitive: { "*": ["/input/pin"], read_mail: ["/output/*/from", "/output/*/text"], sned: [] }, detect: { "*": { "/input": { phone: false } }, read_mail: { "/output": { email: true } }, nobody: {} } })]);
    expect(catalog.tools.map(({ name, tool: { sensitive, detect } }) => [name, sensitive, detect])).toEqual([
      ["t.read_mail", ["/output/*/from", "/input/pin", "/output/*/text"], { "/output": { email: true }, "/input": { phone: false } }],
      ["t.send", ["/input/pin"], { "/input": { phone: false } }],
    ]);
    expect(catalog.problems).toEqual(['t: what is sensitive is set for "sned", which is no tool of it; did you mean "send"?', expect.stringMatching(/^t: detectors are set for "nobody", which is no tool of it/)]);
    // It is no word of the tool's own: what was approved, granted or pinned of it stays.
    const plain = createCatalog([listing("t", [own])]);
    expect(catalog.resolve("t.read_mail")?.definitionDigest).toBe(plain.resolve("t.read_mail")?.definitionDigest);
  });

  test("adds the labels that the user gives to those of the tools, and says which name is no tool", () => {
    const catalog = createCatalog([listing("t", [tool("read_mail", { labels: ["untrusted"] }), tool("send")], { labels: { "*": ["private"], send: ["external", "private"], sned: ["x"] } })]);
    expect(catalog.tools.map(({ name, tool: { labels } }) => [name, labels])).toEqual([["t.read_mail", ["untrusted", "private"]], ["t.send", ["private", "external"]]]);
    expect(catalog.problems).toEqual(['t: labels are set for "sned", which is no tool of it; did you mean "send"?']);
  });

  test("counts a claimed read as a write until the source is trusted or the user overrides it", () => {
    const effects = (more: Partial<CatalogListing>) =>
      createCatalog([listing("t", [tool("a-1", { effect: "read" }), tool("b", { effect: "destructive" })], { kind: "mcp", claimed: true, ...more })]).tools.map((one) => one.tool.effect);
    expect(effects({})).toEqual(["write", "destructive"]);
    expect(effects({ trusted: true })).toEqual(["read", "destructive"]);
    expect(effects({ overrides: { "a-1": "read", b: "write" } })).toEqual(["read", "write"]);
    expect(effects({ overrides: { a_1: "destructive" } })).toEqual(["destructive", "destructive"]);
  });

  test("says an override that names no tool", () => {
    const catalog = createCatalog([listing("t", [tool("delete_row")], { overrides: { delete_rows: "read" } })]);
    expect(catalog.problems).toEqual(['t: an effect is set for "delete_rows", which is no tool of it; did you mean "delete_row"?']);
  });

  test("keeps what was registered when the source changes its objects later", () => {
    const input = { type: "object", properties: { a: { type: "string" } } };
    const catalog = createCatalog([listing("t", [tool("x", { input })], { kind: "mcp" })]);
    input.properties.a.type = "number";
    expect(catalog.resolve("t.x")?.tool.input).toEqual({ type: "object", properties: { a: { type: "string" } } });
    expect(Object.isFrozen(catalog.resolve("t.x")?.tool.input)).toBe(true);
  });

  test("gives a tool a definition digest and an interface digest", () => {
    const digests = (more: Partial<Tool>, rest: Partial<CatalogListing> = {}) => {
      const [one] = createCatalog([listing("t", [tool("x", more)], rest)]).tools;
      return [one?.definitionDigest, one?.interfaceDigest];
    };
    const [definition, face] = digests({});
    expect(digests({ description: "Other" })).toEqual([expect.not.stringMatching(definition ?? ""), face]);
    expect(digests({ input: {} })).not.toContain(face);
    expect(digests({}, { overrides: { x: "read" } })).toEqual([definition, expect.not.stringMatching(face ?? "")]);
  });

  test("changes its own digest with names, definitions and effects only", () => {
    const digest = (tools: Tool[], more: Partial<CatalogListing> = {}) => createCatalog([listing("t", tools, more)]).digest;
    expect(digest([tool("a"), tool("b")])).toBe(digest([tool("b"), tool("a")]));
    expect(digest([tool("a")])).not.toBe(digest([tool("b")]));
    expect(digest([tool("a")])).not.toBe(digest([tool("a")], { overrides: { a: "read" } }));
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

  test("code-mode 12: what types, search and dispatch know is the same set", () => {
    const catalog = createCatalog(listings);
    const declared = catalog.declarations().flatMap(({ namespace, tools, text }) => {
      for (const { name } of tools) expect(text).toMatch(new RegExp(`export function ${name}[(<]`));
      return tools.map(({ name }) => `${namespace}.${name}`);
    });
    expect(declared.sort()).toEqual(catalog.tools.map(({ name }) => name).sort());
    for (const one of catalog.tools) {
      expect(catalog.resolve(one.name)).toBe(one);
      expect(catalog.search(one.tool.name, { namespace: one.namespace, limit: 1_000 }).map(({ tool: { name } }) => name)).toContain(one.name);
    }
  });
});

describe("Catalog", () => {
  const catalog = createCatalog([listing("crm", [tool("get_user", { effect: "read" }), tool("list_users")]), listing("pay", [tool("send_money"), tool("list_payments")])]);
  const without = (name: string) => (one: { name: string }) => one.name !== name;

  test("search finds by words of the name and respects limit, namespace and visibility", () => {
    const names = (query: string, options: Parameters<typeof catalog.search>[1] = {}) => catalog.search(query, options).map(({ tool: { name } }) => name);
    expect(names("list the users")[0]).toBe("crm.list_users");
    expect(names("list", { limit: 1 })).toHaveLength(1);
    expect(names("list", { namespace: "pay" })).toEqual(["pay.list_payments"]);
    expect(names("list", { limit: 1, visible: without("crm.list_users") })).toEqual(["pay.list_payments"]);
  });

  test("search gives the same scores as if the hidden tools were not there", () => {
    const alone = createCatalog([listing("crm", [tool("list_users")]), listing("pay", [tool("send_money"), tool("list_payments")])]);
    const scores = (of: typeof catalog, visible?: (one: { name: string }) => boolean) => of.search("list users", visible === undefined ? {} : { visible }).map(({ tool: { name }, score }) => [name, score]);
    expect(scores(catalog, without("crm.get_user"))).toEqual(scores(alone));
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
