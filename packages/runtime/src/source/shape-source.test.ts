import { ToolError } from "@callgate/contract";
import type { Effect, Source, SourceOptions, SourcePassThrough, Tool, ToolContext } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createCatalog } from "../catalog/catalog.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { defineTool } from "./define-tool.ts";
import { functionSource } from "./function-source.ts";
import { shapeSource } from "./shape-source.ts";

const signal = new AbortController().signal;
const context = {} as ToolContext;

function tool(name: string, more: Partial<Tool> = {}): Tool {
  return { ...defineTool({ name, description: `Does ${name}`, input: { type: "object" }, handler: () => `did ${name}` }), ...more };
}

function sourceOf(tools: readonly Tool[], { claimed = false, kind = "mcp" } = {}): Source {
  const source = functionSource({ namespace: "t", tools });
  return { ...source, kind, list: async (inner) => ({ problems: [], tools: (await source.list(inner)).tools.map((one) => ({ ...one, claimed })) }) };
}

async function shaped(tools: readonly Tool[], options: SourceOptions, more: { claimed?: boolean } = {}): Promise<Catalog> {
  const source = shapeSource(sourceOf(tools, more), options);
  return createCatalog([{ source, listing: await source.list(signal) }]);
}

const namesOf = ({ tools }: Catalog): readonly string[] => tools.map(({ name }) => name.slice(2));

describe("shapeSource: which tools there are", () => {
  const tools = [tool("get-user", { tags: ["users"] }), tool("get_order"), tool("delete_user", { tags: ["users", "danger"] }), tool("list")];

  test.each<[string, SourceOptions, readonly string[]]>([
    ["without a word all", {}, ["delete_user", "get_order", "get_user", "list"]],
    ["an empty allow list: none", { allow: [] }, []],
    ["by stars over names and identifiers", { allow: ["get_*", "list"] }, ["get_order", "get_user", "list"]],
    ["by the source's own name", { allow: ["get-user"] }, ["get_user"]],
    ["denied ones are gone, allowed or not", { allow: ["*"], deny: ["*user"] }, ["get_order", "list"]],
    ["by tags", { allow: ["tag:us*", "list"], deny: ["tag:danger"] }, ["get_user", "list"]],
    ["a star means itself as a part only", { allow: ["*_*_*"] }, []],
  ])("%s", async (_what, options, expected) => {
    expect(namesOf(await shaped(tools, options))).toEqual(expected);
  });

  test("what is left out cannot be called either, and nothing was done", async () => {
    const source = shapeSource(sourceOf(tools), { deny: ["delete_*"], rename: { "get-user": "fetch_user" } });
    for (const name of ["delete_user", "get-user"]) {
      const error: unknown = await source.call(name, {}, context).catch((reason: unknown) => reason);
      expect(ToolError.is(error) && [error.code, error.notApplied], name).toEqual(["TOOL_NOT_FOUND", true]);
    }
    expect(await source.call("list", {}, context)).toBe("did list");
  });

  test("a renamed tool is called by its own name at the source; two of one name are both left out", async () => {
    const source = shapeSource(sourceOf(tools), { rename: { get_user: "fetch_user", list: "all" } });
    const catalog = createCatalog([{ source, listing: await source.list(signal) }]);
    expect(namesOf(catalog)).toEqual(["all", "delete_user", "fetch_user", "get_order"]);
    expect(await source.call("fetch_user", {}, context)).toBe("did get-user");
    expect(await source.call("all", {}, context)).toBe("did list");
    const both = await shaped(tools, { rename: { list: "get_order" } });
    expect(namesOf(both)).toEqual(["delete_user", "get_user"]);
    expect(both.problems).toEqual(['"get_order" and "get_order" would both be t.get_order: none of them is registered. Rename one']);
  });

  test("hooks on a prototype stay with a renamed tool", async () => {
    class Precise {
      readonly description = "";
      readonly input = {};
      readonly effect = "read" as const;
      readonly name = "a";
      readonly answer = 42;
      handler(): number {
        return this.answer;
      }
    }
    const source = shapeSource(sourceOf([new Precise() as unknown as Tool]), { rename: { a: "b" } });
    const [listed] = (await source.list(signal)).tools;
    expect([listed?.tool.name, await listed?.tool.handler({}, context)]).toEqual(["b", 42]);
  });

  test("names of no tool are told, each with the nearest there is; a tool without a name is left to the catalog", async () => {
    const { problems } = await shaped([tool("send"), { ...tool("x"), name: undefined as unknown as string }], { allow: ["*", "snd"], deny: ["old_*"], rename: { sned: "post" }, effects: { sedn: "read" }, labels: { nobody: ["x"], "*": ["y"] } });
    expect(problems).toEqual([
      't: allow names "snd", which is no tool of it; did you mean "send"?',
      't: deny names "old_*", which is no tool of it',
      't: a new name is given to "sned", which is no tool of it; did you mean "send"?',
      't: an effect is set for "sedn", which is no tool of it; did you mean "send"?',
      't: labels are set for "nobody", which is no tool of it',
      expect.stringMatching(/^The tool t\.\(no name\) is declared wrongly/),
    ]);
  });
});

describe("shapeSource: what they do", () => {
  const effectsOf = async (options: SourceOptions): Promise<readonly Effect[]> =>
    (await shaped([tool("a-1", { effect: "read" }), tool("b", { effect: "destructive" })], options, { claimed: true })).tools.map((one) => one.tool.effect);

  test("mcp-003: a claimed read is a write until the source is trusted or the user says so; the nearest word counts", async () => {
    expect(await effectsOf({})).toEqual(["write", "destructive"]);
    expect(await effectsOf({ trusted: true })).toEqual(["read", "destructive"]);
    expect(await effectsOf({ effects: { "a-1": "read", b: "write" } })).toEqual(["read", "write"]);
    expect(await effectsOf({ effects: { a_1: "destructive", "*": "read" } })).toEqual(["destructive", "read"]);
    expect(await effectsOf({ effects: { "*": "write", "a*": "read" } })).toEqual(["read", "write"]);
  });

  test("labels are added to those of the tools", async () => {
    const catalog = await shaped([tool("read_mail", { labels: ["untrusted"] }), tool("send")], { labels: { "*": ["private"], send: ["external", "private"] } });
    expect(catalog.tools.map(({ name, tool: { labels } }) => [name, labels])).toEqual([["t.read_mail", ["untrusted", "private"]], ["t.send", ["private", "external"]]]);
  });

  test("what is sensitive is added, detectors are switched, and the definition stays what was approved", async () => {
    const own = tool("read_mail", { sensitive: ["/output/*/from"], detect: { "/output": { card: false, email: false } } });
    const catalog = await shaped([own, tool("send")], { sensitive: { "*": ["/input/pin"], read_mail: ["/output/*/from", "/output/*/text"] }, detect: { "*": { "/input": { phone: false } }, read_mail: { "/output": { email: true } } } });
    expect(catalog.tools.map(({ name, tool: { sensitive, detect } }) => [name, sensitive, detect])).toEqual([
      ["t.read_mail", ["/output/*/from", "/input/pin", "/output/*/text"], { "/output": { email: true }, "/input": { phone: false } }],
      ["t.send", ["/input/pin"], { "/input": { phone: false } }],
    ]);
    const plain = await shaped([own], {});
    expect(catalog.resolve("t.read_mail")?.definitionDigest).toBe(plain.resolve("t.read_mail")?.definitionDigest);
  });

  test("labels of all tools hold for resources and prompts; purpose, state and close are the source's", async () => {
    let closed = 0;
    const passThrough = { readResource: (uri: string) => Promise.resolve([{ uri, content: { kind: "text", text: "x" } }]) } as unknown as SourcePassThrough;
    const inner: Source = { ...sourceOf([]), purpose: "Mail", state: { kind: "degraded", reason: "slow" }, passThrough, close: async () => void closed++ };
    const source = shapeSource(inner, { labels: { "*": ["untrusted"], a: ["private"] } });
    expect([source.purpose, source.state, source.passThrough?.labels]).toEqual(["Mail", { kind: "degraded", reason: "slow" }, ["untrusted"]]);
    expect(await source.passThrough?.readResource("mem://1", signal)).toHaveLength(1);
    expect(shapeSource(inner, { purpose: "Letters" }).purpose).toBe("Letters");
    await source.close();
    expect(closed).toBe(1);
  });
});
