import { describe, expect, test } from "vitest";
import { parseListing } from "./tool-listing.ts";

function parse(...schemas: readonly unknown[]) {
  const { tools, problems } = parseListing(schemas.map((inputSchema, index) => ({ name: `t${index}`, inputSchema })), { timeoutMs: 1, handler: () => () => undefined });
  return { inputs: tools.map(({ tool }) => tool.input), problems: problems.map(({ message }) => message) };
}

describe("an input schema without a type", () => {
  test("is an object's where nothing speaks against that", () => {
    const { inputs, problems } = parse({ $schema: "http://json-schema.org/draft-07/schema#" }, {}, { properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false });
    expect(problems).toEqual([]);
    expect(inputs).toEqual([{ $schema: "http://json-schema.org/draft-07/schema#", type: "object" }, { type: "object" }, { properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false, type: "object" }]);
  });

  test("costs its tool, and only that, where it may be something else", () => {
    const { inputs, problems } = parse({ anyOf: [{ type: "string" }] }, { type: "array" }, { $ref: "#/x" }, { items: {} }, { type: "object" }, null, undefined);
    expect(inputs).toEqual([{ type: "object" }]);
    expect(problems).toHaveLength(6);
    expect(problems[0]).toContain('must have "type": "object"');
  });
});
