import { describe, expect, test } from "vitest";
import { headerParams, headersOf } from "./header-params.ts";

const string = (name: unknown): object => ({ type: "string", "x-mcp-header": name });

describe("headerParams", () => {
  test("finds declarations at any depth of properties, and writes what is there", () => {
    const found = headerParams({ type: "object", properties: { region: string("Region"), a: { type: "object", properties: { n: { type: "integer", "x-mcp-header": "N" }, on: { type: "boolean", "x-mcp-header": "On" } } } } });
    if (typeof found === "string") throw new Error(found);
    expect(headersOf(found, { region: "eu", a: { n: 7, on: false } })).toEqual({ "Mcp-Param-Region": "eu", "Mcp-Param-N": "7", "Mcp-Param-On": "false" });
    expect(headersOf(found, { region: 3n, a: null })).toEqual({});
    expect(headersOf(found, { region: "line\nbreak" })).toEqual({ "Mcp-Param-Region": "=?base64?bGluZQpicmVhaw==?=" });
    expect(headersOf(found, { region: "=?base64?x?=" })["Mcp-Param-Region"]).toMatch(/^=\?base64\?PT9i/);
  });

  test.each<[string, unknown]>([
    ["no name of a header", { properties: { a: string("a b") } }],
    ["no name of a header", { properties: { a: string("") } }],
    ["no string, integer or boolean", { properties: { a: { type: "number", "x-mcp-header": "A" } } }],
    ["two of its parameters", { properties: { a: string("A"), b: string("a") } }],
    ["where none may be", { properties: { a: { type: "array", items: string("A") } } }],
    ["where none may be", { anyOf: [{ properties: { a: string("A") } }] }],
    ["where none may be", string("A")],
  ])("refuses what says %s", (fault, schema) => {
    expect(headerParams(schema)).toContain(fault);
  });

  test("a value that only looks like a declaration is none", () => {
    expect(headerParams({ properties: { a: { enum: [string("A")] } } })).toEqual([]);
  });
});
