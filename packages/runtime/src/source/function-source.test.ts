import { ToolError } from "@callgate/contract";
import { testSource } from "@callgate/testkit";
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

testSource("functions", () => {
  const tools = [
    defineTool({ name: "double", description: "Doubles", input: {}, effect: "read", handler: (args) => (args as { n: number }).n * 2 }),
    defineTool({
      name: "refuse",
      description: "Refuses",
      input: {},
      handler: () => {
        throw new ToolError({ code: "NO_SUCH_DOC", message: "There is none" });
      },
    }),
    defineTool({
      name: "wait",
      description: "Waits until it is given up",
      input: {},
      handler: (_args, { signal }) =>
        new Promise<never>((_resolve, reject) => {
          const giveUp = (): void => reject(signal.reason as Error);
          if (signal.aborted) giveUp();
          signal.addEventListener("abort", giveUp, { once: true });
        }),
    }),
  ];
  return Promise.resolve({
    source: functionSource({ namespace: "own", tools }),
    tools: ["double", "refuse", "wait"],
    answered: { name: "double", args: { n: 21 }, answer: 42 },
    refused: { name: "refuse", args: {}, code: "NO_SUCH_DOC" },
    unanswered: { name: "wait", args: {} },
    dispose: () => Promise.resolve(),
  });
});
