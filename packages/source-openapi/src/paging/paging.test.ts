import { describe, expect, test } from "vitest";
import { pagedOutput } from "@callgate/contract";
import type { JsonSchema } from "@callgate/contract";
import type { HttpOperation, HttpParameter } from "../http-operation.ts";
import { detectPaging } from "./detect-paging.ts";
import { nextArguments } from "./next-arguments.ts";
import type { PagingRule } from "./paging-rule.ts";

const query = (name: string): HttpParameter => ({ name, argument: name, in: "query", required: false, style: "form", explode: true, allowReserved: false });
const operationOf = (names: readonly string[], more: Partial<HttpOperation> = {}): HttpOperation => ({ method: "GET", path: "/items", servers: [], parameters: names.map(query), responses: [{ status: "200", mediaTypes: ["application/json"], description: "" }], security: [], ...more });
const inputOf = (types: Readonly<Record<string, string>>): JsonSchema => ({ type: "object", properties: Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }])) });
type Node = Exclude<JsonSchema, boolean>;
const object = (properties: object): Node => ({ type: "object", properties });
const list: Node = { type: "array", items: { type: "object" } };

describe("detectPaging", () => {
  const detect = (types: Readonly<Record<string, string>>, output: JsonSchema | undefined, more: Partial<HttpOperation> = {}): PagingRule | undefined => detectPaging({ operation: operationOf(Object.keys(types), more), input: inputOf(types), output });
  const linked = { responses: [{ status: "200", mediaTypes: ["application/json"], description: "", headers: ["link"] }] };

  test.each<readonly [string, Readonly<Record<string, string>>, Node | undefined, Partial<HttpOperation>, PagingRule | undefined]>([
    ["a Link header that is declared", { page: "integer", per_page: "integer", q: "string" }, list, linked, { kind: "link", numbers: ["page", "per_page"] }],
    ["a cursor", { cursor: "string", limit: "integer" }, object({ items: list, next_cursor: { type: ["string", "null"] } }), {}, { kind: "cursor", argument: "cursor", next: "/next_cursor" }],
    ["a cursor beside the items", { cursor: "string" }, object({ ok: {}, response_metadata: object({ next_cursor: { type: "string" } }) }), {}, { kind: "cursor", argument: "cursor", next: "/response_metadata/next_cursor" }],
    ["a token behind references", { pageToken: "string" }, { $ref: "#/$defs/L", $defs: { L: { allOf: [{ $ref: "#/$defs/P" }, object({ files: list })] }, P: object({ nextPageToken: { type: "string" } }) } } as unknown as Node, {}, { kind: "cursor", argument: "pageToken", next: "/nextPageToken" }],
    ["the next page's URL in the body", { offset: "integer", limit: "integer" }, object({ next: { type: "string" }, results: list }), {}, { kind: "url", next: "/next", numbers: ["offset", "limit"] }],
    ["an offset", { offset: "integer", limit: "integer" }, object({ total: { type: "integer" }, data: list }), {}, { kind: "offset", argument: "offset", items: "/data", size: "limit" }],
    ["numbered pages", { page: "integer" }, list, {}, { kind: "page", argument: "page", items: "", first: 1 }],
    ["what the document says itself", { "$top": "integer" }, object({ value: list }), { paging: { "x-ms-pageable": { nextLinkName: "nextLink" } } as unknown as Node }, { kind: "url", next: "/nextLink", numbers: ["$top"] }],
    ["what another extension says", { cursor: "string" }, undefined, { paging: { "x-speakeasy-pagination": { type: "cursor", outputs: { nextCursor: "$.meta.next" } } } as unknown as Node }, { kind: "cursor", argument: "cursor", next: "/meta/next" }],
    ["nothing that turns pages", { q: "string" }, list, linked, undefined],
    ["two lists, of which nobody knows which is paged", { page: "integer" }, object({ a: list, b: list }), {}, undefined],
    ["a page that is a text", { page: "string" }, list, {}, undefined],
    ["a write", { page: "integer" }, list, { method: "POST" }, undefined],
  ])("%s", (_what, types, output, more, expected) => expect(detect(types, output, more)).toEqual(expected));

  test("pagedOutput keeps the definitions where references find them", () => {
    expect(pagedOutput({ $ref: "#/$defs/L", $defs: { L: list } } as unknown as Node)).toMatchObject({ properties: { page: { $ref: "#/$defs/L" }, next: { type: "object" } }, required: ["page"], $defs: { L: list } });
  });
});

describe("nextArguments", () => {
  const next = (rule: PagingRule, args: Readonly<Record<string, unknown>>, { body, link }: { readonly body?: unknown; readonly link?: string } = {}): unknown => {
    const operation = operationOf(["page", "per_page", "cursor", "offset", "limit", "q"]);
    const url = new URL("https://api.test/v1/items");
    for (const [name, value] of Object.entries(args)) url.searchParams.set(name, String(value));
    return nextArguments(rule, { operation, args, body, headers: new Headers(link === undefined ? {} : { link }), url });
  };
  const byLink: PagingRule = { kind: "link", numbers: ["page", "per_page"] };

  test("a link gives what its query says otherwise, numbers as numbers", () => {
    expect(next(byLink, { q: "a", per_page: 2 }, { link: '<https://api.test/v1/items?q=a&per_page=2&page=2>; rel="next", <https://api.test/v1/items?page=9>; rel="last"' })).toEqual({ page: 2 });
    expect(next(byLink, {}, { link: "</v1/items?cursor=x>; rel=next" })).toEqual({ cursor: "x" });
  });

  test.each([
    ["the last page", '<https://api.test/v1/items?page=1>; rel="prev"'],
    ["a page that leads to itself", '<https://api.test/v1/items?q=a&page=3>; rel="next"'],
    ["what the operation has no parameter for", '<https://api.test/v1/items?q=a&page=3&admin=1>; rel="next"'],
    ["another path", '<https://api.test/v1/secrets?page=4>; rel="next"'],
    ["no link", "nonsense"],
  ])("%s is followed by none", (_what, link) => expect(next(byLink, { q: "a", page: 3 }, { link })).toBeUndefined());

  test("a cursor, until there is none or it stays the same", () => {
    const rule: PagingRule = { kind: "cursor", argument: "cursor", next: "/meta/next" };
    expect(next(rule, {}, { body: { meta: { next: "b" } } })).toEqual({ cursor: "b" });
    expect(next(rule, {}, { body: { meta: { next: "https://api.test/v1/items?cursor=c" } } })).toEqual({ cursor: "c" });
    for (const end of ["", null, undefined, "b"]) expect(next(rule, { cursor: "b" }, { body: { meta: { next: end } } })).toBeUndefined();
  });

  test("counts, until a page is empty or not full", () => {
    const offset: PagingRule = { kind: "offset", argument: "offset", items: "/data", size: "limit" };
    expect(next(offset, { limit: 2 }, { body: { data: [1, 2] } })).toEqual({ offset: 2 });
    expect(next(offset, { offset: 2 }, { body: { data: [1, 2, 3] } })).toEqual({ offset: 5 });
    for (const data of [[1], []]) expect(next(offset, { limit: 2, offset: 4 }, { body: { data } })).toBeUndefined();
    const page: PagingRule = { kind: "page", argument: "page", items: "", first: 0 };
    expect([next(page, {}, { body: [1] }), next(page, { page: 7 }, { body: [1] }), next(page, { page: 8 }, { body: [] })]).toEqual([{ page: 1 }, { page: 8 }, undefined]);
  });
});
