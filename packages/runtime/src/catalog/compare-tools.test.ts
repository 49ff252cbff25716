import type { JsonSchema, ToolSpec } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { digestOf } from "../lib/digest.ts";
import { compareTools } from "./compare-tools.ts";
import type { KeptTool } from "./compare-tools.ts";

const object = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = Object.keys(properties), more: object = {}): JsonSchema => ({ type: "object", properties, required: [...required], ...more }) as JsonSchema;
const string = { type: "string" } as const;
const number = { type: "number" } as const;

function tool(input: JsonSchema, output?: JsonSchema, more: Partial<ToolSpec> = {}): KeptTool {
  const spec: ToolSpec = { name: "get", description: "Gets", input, ...(output === undefined ? {} : { output }), effect: "read", tags: [], permissions: [], labels: [], version: "1", timeoutMs: 1, examples: [], errors: [], ...more };
  return { name: "shop.get", spec, definitionDigest: digestOf(spec), interfaceDigest: digestOf({ input: spec.input, output: spec.output ?? null, effect: spec.effect }) };
}

const breaks = (before: KeptTool, after: KeptTool): readonly string[] | undefined => compareTools([before], [after])[0]?.breaks;

describe("what changed in a tool", () => {
  test("tools that came, went, or are only described otherwise", () => {
    const one = tool(object({ id: string }));
    expect(compareTools([], [one])).toMatchObject([{ tool: "shop.get", kind: "added", breaks: [] }]);
    expect(compareTools([one], [])).toMatchObject([{ kind: "removed", breaks: ["it is gone"] }]);
    expect(compareTools([one], [one])).toEqual([]);
    expect(compareTools([one], [tool(object({ id: string }), undefined, { description: "Gets one" })])).toEqual([{ tool: "shop.get", kind: "redeclared", breaks: [] }]);
  });

  test.each<[string, KeptTool, KeptTool, readonly string[]]>([
    ["an input that may be given", tool(object({ id: string })), tool(object({ id: string, brief: string }, ["id"])), []],
    ["an input that has to be given", tool(object({ id: string })), tool(object({ id: string, brief: string })), ["input.brief: has to be given now: string"]],
    ["an input that could be left out", tool(object({ id: string }, [])), tool(object({ id: string })), ["input.id: has to be given now, and could be left out"]],
    ["an input that is gone", tool(object({ id: string, brief: string }, ["id"])), tool(object({ id: string })), ["input.brief: is not taken any more"]],
    ["an input that goes into the rest", tool(object({ id: string })), tool({ type: "object", additionalProperties: string }), []],
    ["a wider input", tool(object({ id: string })), tool(object({ id: { type: ["string", "number"] } })), []],
    ["a narrower input", tool(object({ id: { enum: ["a", "b"] } })), tool(object({ id: { enum: ["a"] } })), ['input.id: takes "a" now, and took "b"']],
    ["whole numbers where numbers were", tool(object({ n: { type: "integer" } })), tool(object({ n: number })), []],
    ["more output", tool(object({}), object({ a: string })), tool(object({}), object({ a: string, b: string })), []],
    ["an output that is gone", tool(object({}), object({ a: string, b: string })), tool(object({}), object({ a: string })), ["output.b: is gone: string"]],
    ["an output that may be missing", tool(object({}), object({ a: string })), tool(object({}), object({ a: string }, [])), ["output.a: may be missing now"]],
    ["another output, deep in a list", tool(object({}), { type: "array", items: object({ price: number }) }), tool(object({}), { type: "array", items: object({ price: string }) }), ["output[].price: is string now, and was number"]],
    ["an output that may be null", tool(object({}), object({ a: string })), tool(object({}), object({ a: { type: ["string", "null"] } })), ["output.a: is null now, and was string"]],
    ["no output schema any more", tool(object({}), object({ a: string })), tool(object({})), ["output: is unknown now, and was { a: string }"]],
    ["an output schema where there was none", tool(object({})), tool(object({}), object({ a: string })), []],
    ["a stronger effect", tool(object({})), tool(object({}), undefined, { effect: "write" }), ["effect: it is write now, and was read"]],
    ["a weaker effect", tool(object({}), undefined, { effect: "write" }), tool(object({})), []],
    ["other documentation of a part", tool(object({ id: string })), tool(object({ id: { type: "string", description: "of an order" } })), []],
  ])("%s", (_what, before, after, expected) => {
    expect(breaks(before, after)).toEqual(expected);
  });

  test("types that lead back to themselves are compared to their end", () => {
    const tree = (value: JsonSchema): JsonSchema => ({ $ref: "#/$defs/node", $defs: { node: object({ value, children: { type: "array", items: { $ref: "#/$defs/node" } } }) } }) as JsonSchema;
    expect(breaks(tool(object({}), tree(string)), tool(object({}), tree(string), { description: "x" }))).toEqual([]);
    expect(breaks(tool(object({}), tree(string)), tool(object({}), tree(number)))).toEqual(["output.value: is number now, and was string"]);
  });
});
