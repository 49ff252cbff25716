import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { JsonSchema, Tool } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { defineTool } from "../../source/define-tool.ts";
import { identifierOf } from "../naming.ts";
import { declarePython } from "./declare-python.ts";

const catalogs = new URL("../../../../../../shared/data/mcp/", import.meta.url);
const hasPython = spawnSync("python3", ["--version"]).status === 0;

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ ...defineTool({ name, description: `Does ${name}`, input: { type: "object" }, handler: () => null }), ...more });

const declare = (...tools: readonly Tool[]): string => declarePython("t", tools.map((spec) => ({ member: identifierOf(spec.name, "tool"), spec })));

/** Runs each text as a module and evaluates every annotation; one message per text that fails. */
function pythonErrors(texts: readonly string[]): string[] {
  const program = `
import json, sys, typing, warnings
warnings.simplefilter("error")
for index, text in enumerate(json.load(sys.stdin)):
    try:
        scope = {"__name__": "stub"}
        sys.modules["stub"] = type(sys)("stub")
        sys.modules["stub"].__dict__.update(scope)
        scope = sys.modules["stub"].__dict__
        exec(compile(text, f"stub{index}", "exec"), scope)
        for value in list(scope.values()):
            if getattr(value, "__module__", None) == "stub":
                typing.get_type_hints(value, scope)
    except BaseException as error:
        print(index, type(error).__name__, error)
`;
  const run = spawnSync("python3", ["-I", "-c", program], { input: JSON.stringify(texts), encoding: "utf8" });
  return `${run.stdout}${run.stderr}`.split("\n").filter((line) => line !== "");
}

describe("declarePython", () => {
  const document = tool("get-doc", {
    description: "Reads a document.",
    effect: "read",
    input: { type: "object", properties: { id: { type: "string", description: "Its id" }, format: { enum: ["text", "html"], default: "text" }, from: { type: "integer" } }, required: ["id"] },
    output: { type: "object", properties: { content: { type: "string" }, tags: { type: "array", items: { $ref: "#/$defs/tag" } }, "x-size": { type: ["number", "null"] } }, required: ["content"], $defs: { tag: { type: "object", properties: { name: { type: "string" }, parent: { $ref: "#/$defs/tag" } }, required: ["name"] } } },
  });

  test("makes a paged tool an object that can be called, and turned", () => {
    const text = declare(tool("list", { paged: true, input: { type: "object", properties: { q: { type: "string" } }, required: ["q"] }, output: { type: "object", properties: { page: { type: "array", items: { type: "object", properties: { id: { type: "integer" } } } }, next: { type: "object" } }, required: ["page"] } }));
    expect(text.slice(text.indexOf("class ListPageItem"))).toContain("list: ListTool");
    if (hasPython) expect(pythonErrors([text])).toEqual([]);
  });

  test("writes a synchronous function of keyword-only arguments per tool, and a TypedDict per object", () => {
    expect(declare(document)).toMatchInlineSnapshot(`
      """"Tools of the namespace t."""

      from __future__ import annotations

      from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Union


      class GetDocOutputTag(TypedDict):
          name: str
          parent: NotRequired[GetDocOutputTag]


      GetDocOutput = TypedDict("GetDocOutput", {
          "content": "str",
          "tags": "NotRequired[list[GetDocOutputTag]]",
          "x-size": "NotRequired[Union[None, float]]",
      })


      def get_doc(*, id: str, format: Literal["text", "html"] = ..., **more: object) -> GetDocOutput:
          """Reads a document.
          effect: read

          id: Its id
          format: default: "text"
          """
          ...
      "
    `);
  });

  const odd: readonly Tool[] = [
    document,
    tool("class", { description: 'Ends with a quote" \\ and """ inside', input: { type: "object", properties: { "": { const: "\u{1f600}\ud800\"\\\n" }, None: { const: -1.5 }, __secret: { const: true }, more: {} }, additionalProperties: { type: "string" } } }),
    tool("union", { input: { anyOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { type: "object", properties: { b: { type: "number" } }, required: ["b"] }] }, output: { oneOf: [{ type: "null" }, { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] }] } }),
    tool("recursive", { input: { $ref: "#/$defs/n", $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" }, any: { $ref: "#/$defs/loop" } } }, loop: { anyOf: [{ $ref: "#/$defs/loop" }, { type: "string" }] } } }, output: { $ref: "#" } }),
    tool("never", { input: { type: "object", properties: { a: false } }, output: false }),
  ];

  test.skipIf(!hasPython)("is valid Python whose every annotation can be evaluated, for odd names and schemas (skipped without python3)", () => {
    expect(pythonErrors([declare(...odd), declare()])).toEqual([]);
  });

  test.skipIf(!hasPython)("the check sees a stub that is broken (skipped without python3)", () => {
    expect(pythonErrors(["def f(*, a: Missing) -> int: ..."])).toEqual([expect.stringContaining("NameError")]);
  });

  test.skipIf(!hasPython || !existsSync(catalogs))("declares all tools of 22 real MCP servers (skipped without python3 or ../shared/data/mcp)", () => {
    const files = readdirSync(catalogs).filter((name) => name !== "servers.json");
    const texts = files.map((file) => {
      const { tools } = JSON.parse(readFileSync(new URL(file, catalogs), "utf8")) as { tools: { name: string; description?: string; inputSchema: JsonSchema; outputSchema?: JsonSchema }[] };
      return declare(...tools.map(({ name, description, inputSchema, outputSchema }) => tool(name, { description: description ?? "", input: inputSchema, ...(outputSchema === undefined ? {} : { output: outputSchema }) })));
    });
    expect(texts.length).toBeGreaterThanOrEqual(22);
    expect(pythonErrors(texts)).toEqual([]);
  });
});
