import { describe, expect, test } from "vitest";
import { defineTool } from "./define-tool.ts";
import { functionSource } from "./function-source.ts";

const tool = (name: string) => defineTool({ name, description: name, input: {}, handler: () => name });

describe("functionSource", () => {
  test("lists its tools, whose effects are the author's own word", async () => {
    const source = functionSource({ namespace: "crm", tools: [tool("a"), tool("b")] });
    const listing = await source.list(new AbortController().signal);
    expect(listing.tools.map(({ tool: { name }, claimed }) => [name, claimed])).toEqual([["a", false], ["b", false]]);
  });

  test("refuses two tools of one name", () => {
    expect(() => functionSource({ namespace: "crm", tools: [tool("a"), tool("a")] })).toThrow('Two tools of namespace "crm" are named "a"');
  });

  test("refuses a tool without a name", () => {
    expect(() => functionSource({ namespace: "crm", tools: [tool("")] })).toThrow('A tool of namespace "crm" has no name');
  });

  test("refuses tools that are not a list", () => {
    const untyped: unknown = { namespace: "crm", tools: { a: tool("a") } };
    expect(() => functionSource(untyped as Parameters<typeof functionSource>[0])).toThrow('The tools of namespace "crm" are not a list; write crm: [tool, ...]');
  });
});
