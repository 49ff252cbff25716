import { describe, expect, test } from "vitest";
import type { HttpBody, HttpOperation, HttpParameter } from "../http-operation.ts";
import { buildRequest } from "./build-request.ts";
import type { BuiltRequest } from "./build-request.ts";

const server = new URL("https://api.test/v1/");

function parameter(name: string, more: Partial<HttpParameter> = {}): HttpParameter {
  const place = more.in ?? "query";
  return { name, argument: name, in: place, required: false, style: place === "path" || place === "header" ? "simple" : "form", explode: place === "query" || place === "cookie", allowReserved: false, ...more };
}

function operationOf(more: Partial<HttpOperation>): HttpOperation {
  return { method: "GET", path: "/x", servers: [], parameters: [], responses: [], security: [], ...more };
}

function build(args: Readonly<Record<string, unknown>>, more: Partial<HttpOperation>): BuiltRequest {
  return buildRequest(operationOf(more), server, args);
}

const header = (request: BuiltRequest, wanted: string): string | undefined => request.headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
const refused = { code: "INVALID_INPUT", notApplied: true };

describe("paths", () => {
  const at = (path: string, args: Readonly<Record<string, unknown>>, more: Partial<HttpParameter> = {}): string =>
    build(args, { path, parameters: [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => parameter(name, { in: "path", ...more })) }).url.href.replace("https://api.test/v1", "");

  test("values stand where their templates are, also several in one segment", () => {
    expect(at("/repos/{owner}/compare/{base}...{head}.{format}", { owner: "a b", base: "v1", head: "v2", format: "json" })).toBe("/repos/a%20b/compare/v1...v2.json");
    expect(at("/a(b)/{id}", { id: 7n })).toBe("/a(b)/7");
  });

  test.each([
    ["../../admin", "/users/..%2F..%2Fadmin"],
    ["1?x=", "/users/1%3Fx%3D"],
    ["1#", "/users/1%23"],
    ["%2e%2e", "/users/%252e%252e"],
    ["a/b", "/users/a%2Fb"],
    ["..\\..\\admin", "/users/..%5C..%5Cadmin"],
    ["a\r\nb", "/users/a%0D%0Ab"],
    ["...", "/users/..."],
    ["http://evil.test/", "/users/http%3A%2F%2Fevil.test%2F"],
  ])("http-012: %j stays in its segment", (id, expected) => expect(at("/users/{id}", { id })).toBe(expected));

  test.each(["..", ".", "", null, undefined, []])("http-012: %j is refused", (id) => {
    expect(() => at("/users/{id}", { id })).toThrow(expect.objectContaining(refused));
    expect(() => at("/users/{id}/keys", { id })).toThrow(expect.objectContaining(refused));
  });

  test("http-012: nor do parts, or a style, make dots of a segment", () => {
    expect(() => at("/users/{a}{b}", { a: ".", b: "." })).toThrow(expect.objectContaining(refused));
    expect(() => at("/users/{id}", { id: "." }, { style: "label" })).toThrow(expect.objectContaining(refused));
  });
});

describe("queries", () => {
  const query = (value: unknown, more: Partial<HttpParameter> = {}, name = "c"): string => build({ [name]: value }, { parameters: [parameter(name, more)] }).url.search;

  test.each([
    ["nothing", undefined, {}, ""],
    ["null", null, {}, ""],
    ["an empty list", [], {}, ""],
    ["an empty text", "", {}, "?c="],
    ["a list without its holes", ["a", null, "b"], {}, "?c=a&c=b"],
    ["an object within a list", [{ a: 1 }], {}, "?c=%7B%22a%22%3A1%7D"],
    ["a deep object", { a: { b: [1, 2], d: [{ e: 1 }] }, f: null }, { style: "deepObject" }, "?c%5Ba%5D%5Bb%5D%5B%5D=1&c%5Ba%5D%5Bb%5D%5B%5D=2&c%5Ba%5D%5Bd%5D%5B0%5D%5Be%5D=1"],
    ["reserved characters, but those that would end the value", "/a:b?c=d&e#f+g", { allowReserved: true }, "?c=/a:b?c=d%26e%23f+g"],
    ["a whole number beyond 2^53", 9_007_199_254_740_993n, {}, "?c=9007199254740993"],
    ["a media type", { a: ["ü"] }, { mediaType: "application/json" }, "?c=%7B%22a%22%3A%5B%22%C3%BC%22%5D%7D"],
    ["what would be another parameter", "1&admin=true", {}, "?c=1%26admin%3Dtrue"],
    ["half a character", "a\ud800", {}, "?c=a%EF%BF%BD"],
  ] as const)("%s", (_what, value, more, expected) => expect(query(value, more as Partial<HttpParameter>)).toBe(expected));

  test("names of lists, and with dots, are names", () => {
    expect(query([1, 2], {}, "ids[]")).toBe("?ids%5B%5D=1&ids%5B%5D=2");
    expect(query("x", {}, "filter.name")).toBe("?filter.name=x");
  });

  test("go behind what the server's address has; a constant is put in", () => {
    const { url } = buildRequest(operationOf({ parameters: [parameter("kind", { constant: "one" }), parameter("q")] }), new URL("https://api.test/?tenant=7"), { q: "a" });
    expect(url.href).toBe("https://api.test/x?tenant=7&kind=one&q=a");
  });
});

describe("headers and cookies", () => {
  const headers = (value: unknown, more: Partial<HttpParameter>): BuiltRequest => build({ "X-A": value }, { parameters: [parameter("X-A", { in: "header", ...more })] });

  test.each([
    ["a b", {}, "a b"],
    [[1, "two"], {}, "1,two"],
    [{ a: 1, b: "x" }, {}, "a,1,b,x"],
    [{ a: 1, b: "x" }, { explode: true }, "a=1,b=x"],
    [{ a: "ü" }, { mediaType: "application/json" }, '{"a":"\\u00fc"}'],
  ])("header %j %j", (value, more, expected) => expect(header(headers(value, more), "x-a")).toBe(expected));

  test.each([[[1, 2], {}, "c=1; c=2"], [[1, 2], { explode: false }, "c=1,2"], [{ a: 1 }, { explode: false }, "c=a,1"], ["a;b=c, \"ü%", {}, "c=a%3Bb=c%2C%20%22%C3%BC%25"]])("cookie %j %j", (value, more, expected) => {
    expect(header(build({ c: value }, { parameters: [parameter("c", { in: "cookie", ...more })] }), "cookie")).toBe(expected);
  });

  test.each(["x\r\nX-Admin: 1", "x\nb", "a\0b", "日本"])("http-015: %j is no value of a header", (value) => expect(() => headers(value, {})).toThrow(expect.objectContaining(refused)));

  test.each(["Authorization", "cookie", "Host", "Transfer-Encoding", "X-HTTP-Method-Override", "content-length"])("http-015: %s is not for a program to set", (name) => {
    expect(() => build({ v: "x" }, { parameters: [parameter(name, { in: "header", argument: "v" })] })).toThrow(expect.objectContaining(refused));
  });

  test("say what can be read, JSON first", () => {
    const responses = [{ status: "200", mediaTypes: ["text/csv", "application/json"], description: "" }, { status: "400", mediaTypes: ["text/plain"], description: "" }];
    expect(header(build({}, { responses }), "accept")).toBe("application/json, text/csv");
    expect(header(build({}, {}), "accept")).toBe("application/json, */*;q=0.5");
  });
});

describe("bodies", () => {
  const body = (mediaType: string, value: unknown, more: Partial<HttpBody> = {}): BuiltRequest => build({ body: value }, { method: "POST", body: { mediaType, required: true, from: { kind: "whole", argument: "body" }, files: [], ...more } });
  const text = ({ body: content = "" }: BuiltRequest): string => (typeof content === "string" ? content : Buffer.from(content).toString());

  test("JSON, with every digit of a whole number; without arguments there is none", () => {
    expect(text(body("application/vnd.api+json", { id: 9_007_199_254_740_993n, at: null }))).toBe('{"id":9007199254740993,"at":null}');
    const merged = { mediaType: "application/json", required: false, from: { kind: "merged", properties: ["a", "b"] }, files: [] } as const;
    expect(build({ q: 1 }, { method: "POST", body: merged })).not.toHaveProperty("body");
    expect(build({ b: 2, c: 3 }, { method: "POST", body: merged }).body).toBe('{"b":2}');
    expect(build({}, { method: "POST", body: { ...merged, required: true } }).body).toBe("{}");
  });

  test("forms: lists repeat, objects are JSON unless a style says otherwise", () => {
    const value = { a: "x y&z", list: [1, 2], object: { b: 1 }, none: null };
    expect(text(body("application/x-www-form-urlencoded", value))).toBe("a=x+y%26z&list=1&list=2&object=%7B%22b%22%3A1%7D");
    expect(text(body("application/x-www-form-urlencoded", value, { encoding: { object: { style: "deepObject", explode: true }, list: { explode: false } } }))).toBe("a=x+y%26z&list=1,2&object%5Bb%5D=1");
    expect(() => body("application/x-www-form-urlencoded", "a=1")).toThrow(expect.objectContaining(refused));
  });

  test("forms of plain fields are the bytes that the platform writes for them, and read back as they were", () => {
    const fields = { a: "x y&z=1+2/3?", ü: "€ 😀", star: "*-._", empty: "" };
    const written = text(body("application/x-www-form-urlencoded", fields));
    expect(Object.fromEntries(new URLSearchParams(written))).toEqual(fields);
    // The platform leaves `*` as it is; both read back.
    expect(written.replaceAll("%2A", "*")).toBe(new URLSearchParams(fields).toString());
  });

  test("multipart: fields, JSON parts and files are read back by another reader as they were", async () => {
    const request = body("multipart/form-data", { name: "x", meta: { a: 1 }, file: "text", pictures: [{ base64: "AP8=", filename: 'a"\r\nb.png', mediaType: "image/png" }] }, { files: ["file", "pictures"] });
    const contentType = header(request, "content-type") ?? "";
    const form = await new Response(Buffer.from(request.body ?? ""), { headers: { "content-type": contentType } }).formData();
    expect([form.get("name"), form.get("meta")]).toEqual(["x", '{"a":1}']);
    const [file, picture] = [form.get("file"), form.get("pictures")] as readonly File[];
    expect([file?.name, await file?.text()]).toEqual(["file", "text"]);
    expect([picture?.name, picture?.type, [...new Uint8Array((await picture?.arrayBuffer()) ?? new ArrayBuffer())]]).toEqual(['a"\r\nb.png', "image/png", [0, 255]]);
    expect(text(request)).toContain('name="meta"\r\nContent-Type: application/json\r\n');
  });

  test("files and texts", () => {
    expect(Buffer.from(body("application/octet-stream", { base64: "AP8=" }, { files: [""] }).body ?? "")).toEqual(Buffer.from([0, 255]));
    expect(header(body("application/*", { base64: "AP8=", mediaType: "image/gif" }, { files: [""] }), "content-type")).toBe("image/gif");
    expect(text(body("text/csv", "a,b"))).toBe("a,b");
    for (const wrong of [{ base64: "%" }, { base64: 1 }, 7]) expect(() => body("application/pdf", wrong, { files: [""] })).toThrow(expect.objectContaining(refused));
  });

  test("XML by its hints: names, attributes, wrapped lists, namespaces, recursion", () => {
    const xml = {
      $ref: "#/$defs/Pet",
      $defs: {
        Pet: { type: "object", xml: { name: "pet", namespace: "http://p.test", prefix: "p" }, properties: { id: { xml: { attribute: true } }, names: { type: "array", items: { xml: { name: "name" } } }, tags: { type: "array", xml: { wrapped: true }, items: { xml: { name: "tag" } } }, friend: { $ref: "#/$defs/Pet" } } },
      },
    };
    expect(text(body("application/xml", { id: 7, names: ["a<", "b"], tags: ["x"], friend: { id: 8 } }, { xml }))).toBe('<?xml version="1.0" encoding="UTF-8"?><p:pet xmlns:p="http://p.test" id="7"><name>a&lt;</name><name>b</name><tags><tag>x</tag></tags><p:pet xmlns:p="http://p.test" id="8"/></p:pet>');
    expect(text(body("text/xml", "<a/>"))).toBe("<a/>");
  });
});
