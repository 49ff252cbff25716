import type { JsonSchema } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { defineTool } from "../../source/define-tool.ts";
import { createSpecParser, maxSchemaDepth } from "./parse-spec.ts";

const parser = createSpecParser();

const declared = (more: Readonly<Record<string, unknown>> = {}): unknown => ({ ...defineTool({ name: "x", description: "X", input: { type: "object" }, handler: () => null }), ...more });

function issues(more: Readonly<Record<string, unknown>>): readonly string[] {
  const parsed = parser.parse(declared(more));
  return parsed.kind === "ok" ? [] : parsed.issues;
}

describe("createSpecParser", () => {
  test("takes what defineTool makes, as a frozen copy without code", () => {
    const parsed = parser.parse(declared());
    expect(parsed).toMatchObject({ kind: "ok", warnings: [], spec: { name: "x", effect: "write" } });
    expect(parsed.kind === "ok" && Object.isFrozen(parsed.spec.input) && !("handler" in parsed.spec)).toBe(true);
  });

  test.each<[Readonly<Record<string, unknown>>, RegExp]>([
    [{ name: "" }, /^name: /],
    [{ description: 7 }, /^description: expected string, received number, got number 7$/],
    [{ effect: "safe" }, /^effect: .*"read".*got string "safe"$/],
    [{ tags: "a" }, /^tags: expected array/],
    [{ timeoutMs: 1.5 }, /^timeoutMs: /],
    [{ retry: { retries: 99 } }, /^retry\.retries: /],
    [{ errors: [{ code: "not-upper", description: "x" }] }, /^errors\.0\.code: expected UPPER_SNAKE/],
    [{ sensitive: ["/name"] }, /^sensitive\.0: expected a JSON Pointer that starts with \/input or \/output/],
    [{ input: "string" }, /^input: expected a JSON Schema: an object or a boolean, got string "string"$/],
    [{ input: { type: "array" } }, /^input: must describe an object/],
    [{ input: { type: "object", properties: { a: { type: "strng" } } } }, /^input\/properties\/a\/type: expected one of "array", "boolean".*; did you mean "string"\?$/],
    [{ output: { minLength: -1 } }, /^output\/minLength: must be at least 0, got number -1$/],
    [{ output: { properties: { "a/b": { required: "a" } } } }, /^output\/properties\/a~1b\/required: expected array of string, got string "a"$/],
    [{ input: { type: "object", properties: { a: { $ref: "#/$defs/no" } } } }, /^input\/properties\/a\/\$ref: "#\/\$defs\/no" leads nowhere$/],
    [{ input: { $ref: "http://json-schema.org/draft-07/schema#" } }, /leads outside of the schema, and nothing is fetched/],
  ])("names field, path and value of %j", (more, message) => {
    expect(issues(more)).toEqual([expect.stringMatching(message)]);
  });

  test("br-027: refuses what is no tool, and a schema too deep, too large or in circles", () => {
    for (const nothing of [null, undefined, 1, "x", []]) expect(parser.parse(nothing).kind).toBe("invalid");
    const deep = Array.from({ length: maxSchemaDepth + 1 }).reduce<JsonSchema>((inner) => ({ not: inner }), {});
    expect(issues({ input: deep })).toEqual([expect.stringContaining("input: nested deeper than")]);
    expect(issues({ input: { type: "object", description: "x".repeat(1_100_000) } })).toEqual([expect.stringContaining("characters of JSON, the bound is")]);
    const circle: Record<string, unknown> = { type: "object" };
    circle["self"] = circle;
    expect(issues({ input: circle })).toEqual([expect.stringContaining("not plain JSON")]);
    expect(issues({ input: { type: "object", big: 1n } })).toEqual([expect.stringContaining("not plain JSON")]);
  });

  test("takes every dialect, unknown formats and keywords, references of every kind", () => {
    const input = { $schema: "http://json-schema.org/draft-07/schema#", type: "object", properties: { a: { $ref: "#/definitions/x~1y" }, b: { items: [{ type: "string", format: "own" }] } }, definitions: { "x/y": { nullable: true, type: "string", "x-own": [] } } };
    expect(issues({ input, output: { $id: "https://example.com/o", $ref: "https://example.com/o#a", $defs: { a: { $anchor: "a" } } } })).toEqual([]);
  });

  test("says a pattern that is not checked, unless the author's own schema checks it", () => {
    const input = { type: "object", properties: { a: { pattern: "^(?!x)" } } };
    const warnings = (more: object) => {
      const parsed = parser.parse(declared({ input, ...more }));
      return parsed.kind === "ok" ? parsed.warnings : [];
    };
    expect(warnings({})).toEqual([expect.stringMatching(/^input\/properties\/a: the pattern "\^\(\?!x\)" cannot be matched in linear time/)]);
    expect(warnings({ parseInput: () => ({ kind: "ok", value: {} }) })).toEqual([]);
  });
});
