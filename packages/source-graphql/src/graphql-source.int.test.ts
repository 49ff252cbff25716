import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localPrincipal, ToolError } from "@callgate/contract";
import type { Clock, Source, ToolContext } from "@callgate/contract";
import { testSource } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startShop } from "./fixtures/shop-service.ts";
import type { ShopService } from "./fixtures/shop-service.ts";
import { shopSchema } from "./fixtures/shop-schema.ts";
import { createGraphqlSource } from "./graphql-source.ts";
import type { GraphqlSourceOptions } from "./graphql-source.ts";

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule: (delayMs, fire) => {
    const timer = setTimeout(fire, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};
const optionsOf = (shop: ShopService): GraphqlSourceOptions => ({ namespace: "shop", endpoint: shop.url, auth: "env:TOKEN", readSecret: () => "shop-token", clock });

let shop: ShopService;
let source: Source;
const warnings: string[] = [];
beforeAll(async () => {
  shop = await startShop();
  source = createGraphqlSource(optionsOf(shop));
});
afterAll(async () => {
  await source.close();
  await shop.stop();
});

const silent = (): void => undefined;
const context = (): ToolContext => ({ signal: new AbortController().signal, principal: localPrincipal, runId: "run_1", callId: "run_1.1", idempotencyKey: "key_1", log: { debug: silent, info: silent, warn: (message) => void warnings.push(message), error: silent }, progress: silent, reportCost: silent, attach: () => Promise.reject(new Error("nothing is attached here")) });
const call = (name: string, args: unknown = {}): Promise<unknown> => source.call(name, args, context());
const failure = async (name: string, args: unknown = {}): Promise<ToolError> => {
  const error = await call(name, args).then(() => undefined, (fault: unknown) => fault);
  if (!ToolError.is(error)) throw new Error(`not a ToolError: ${String(error)}`);
  return error;
};

describe("fields as tools", () => {
  test("give what has no parts and single objects, and further fields where they are named", async () => {
    expect(await call("article", { id: "1" })).toMatchObject({ id: "1", name: "Article 1", supplier: { name: "North" } });
    expect(await call("article", { id: "1", select: "orders(first: 1) { totalCount }" })).toMatchObject({ orders: { totalCount: 1 } });
    expect(await call("article", { id: "none" })).toBeNull();
    expect(await call("orders")).toMatchObject({ totalCount: 1, nodes: [{ id: "o1", count: 2 }], pageInfo: { hasNextPage: false } });
    expect(await call("search", { text: "a" })).toMatchObject([{ __typename: "Article", left: 7 }, { __typename: "Supplier" }]);
    expect(await call("select", { select: "north" })).toEqual({ street: "Main" });
  });

  test("send values as variables, and only what was given", async () => {
    await call("articles", { filter: { and: [{ size: "LARGE", left: { below: 3 } }] } });
    expect(shop.asked.at(-1)).toMatchObject({ query: expect.stringMatching(/^query \(\$filter: Filter\) \{\n {2}articles\(filter: \$filter\)/), variables: { filter: { and: [{ size: "LARGE", left: { below: 3 } }] } } });
    expect(shop.asked.at(-1)?.headers["idempotency-key"]).toBeUndefined();
  });

  test("of mutations carry the key of the call, and lists of what they answer", async () => {
    expect(await call("setLeft", { id: "1", left: 3 })).toMatchObject({ article: { left: 3 }, problems: [] });
    expect(shop.asked.at(-1)?.headers["idempotency-key"]).toBe("key_1");
    expect([await call("query_supplier"), await call("mutation_supplier", { name: "South" })]).toEqual(["old", expect.objectContaining({ name: "South" })]);
  });

  test.each(["} setLeft(id: 1, left: 0) { article { id }", "id } } mutation { failAfter", "nam", "near { id }", `supplier { ${"parent { ".repeat(20)}id${" }".repeat(20)} }`])("refuse further fields that are none: %s", async (select) => {
    const before = shop.asked.length;
    expect(await failure("article", { id: "1", select })).toMatchObject({ code: "INVALID_INPUT", notApplied: true });
    expect(shop.asked).toHaveLength(before);
  });

  test("fail with the service's own code; what was executed may have changed something", async () => {
    expect(await failure("fail")).toMatchObject({ code: "SHELF_FELL", message: "the shelf fell over" });
    expect(await failure("failAfter")).toMatchObject({ code: "GRAPHQL_ERROR", notApplied: false });
    expect(await failure("article", { id: { no: "text" } })).toMatchObject({ notApplied: true });
  });
});

describe("a whole query", () => {
  test("is sent with its variables, and its parts that failed are told", async () => {
    expect(await call("query", { query: "query ($id: ID!) { article(id: $id) { name } fail }", variables: { id: "3" } })).toEqual({ data: { article: { name: "Article 3" }, fail: null }, errors: [{ message: "the shelf fell over", path: ["fail"], code: "SHELF_FELL" }] });
  });

  test.each([
    ["a mutation", "mutation { failAfter }"],
    ["a mutation beside a query", "query A { count } mutation B { failAfter }"],
    ["a mutation behind a comment", "#query\nmutation{failAfter}"],
    ["a subscription", "subscription { count }"],
    ["a definition", "query { count } extend type Query { x: Int }"],
    ["only a fragment", "fragment A on Article { id }"],
    ["nothing", ""],
    ["a field that is none", "{ cuont }"],
    ["no GraphQL", "select * from articles"],
    ["very many words", `{ ${"count ".repeat(6_000)} }`],
  ])("that is %s is not sent", async (_what, query) => {
    const before = shop.asked.length;
    expect(await failure("query", { query })).toMatchObject({ code: "INVALID_INPUT", notApplied: true });
    expect(shop.asked).toHaveLength(before);
  });

  test("says what was meant, and where", async () => {
    expect((await failure("query", { query: "{\n  cuont\n}" })).message).toBe('Cannot query field "cuont" on type "Query". Did you mean "count"? (line 2, column 3)');
  });
});

describe("where the schema is from", () => {
  test("a file of SDL, and then nobody is asked", async () => {
    const folder = mkdtempSync(join(tmpdir(), "callgate-graphql-"));
    writeFileSync(join(folder, "shop.graphql"), shopSchema);
    const own = createGraphqlSource({ ...optionsOf(shop), schema: "shop.graphql", folder });
    const before = shop.asked.length;
    expect((await own.list(new AbortController().signal)).tools.map(({ tool }) => tool.name)).toContain("setLeft");
    expect([shop.asked.length, own.purpose]).toEqual([before, "The shop of a town"]);
    writeFileSync(join(folder, "shop.graphql"), "type Query {");
    expect((await own.list(new AbortController().signal)).problems).toHaveLength(1);
    expect(own.state.kind).toBe("degraded");
    await own.close();
    rmSync(folder, { recursive: true });
  });

  test("the service, once for all processes in its time", async () => {
    const cacheFolder = mkdtempSync(join(tmpdir(), "callgate-graphql-"));
    const counts: number[] = [];
    for (let n = 0; n < 2; n++) {
      const own = createGraphqlSource({ ...optionsOf(shop), cacheFolder });
      const before = shop.asked.length;
      await own.list(new AbortController().signal);
      counts.push(shop.asked.length - before);
      await own.close();
    }
    expect(counts).toEqual([1, 0]);
    rmSync(cacheFolder, { recursive: true });
  });
});

const fieldNames = ["article", "articles", "orders", "search", "thing", "count", "select", "fail", "wait", "query_supplier", "query_query", "setLeft", "mutation_supplier", "failAfter", "query"];

testSource("graphql", async () => {
  const peer = await startShop();
  return {
    source: createGraphqlSource(optionsOf(peer)),
    tools: fieldNames,
    answered: { name: "count", args: {}, answer: 2 },
    refused: { name: "fail", args: {}, code: "SHELF_FELL" },
    unanswered: { name: "wait", args: {} },
    secrets: ["shop-token"],
    fate: { goAway: () => peer.stop(), comeBack: () => peer.start() },
    dispose: () => peer.stop(),
  };
});
