import type { JsonSchema, ToolSpec, ToolView } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { lintTools } from "./lint-tools.ts";

const counter = { estimate: (text: string) => Math.ceil(text.length / 4) };
const good: Partial<ToolSpec> = { description: "Reads one customer by its number", input: { type: "object", properties: { id: { type: "string" } } }, output: { type: "object" }, examples: [{ input: { id: "1" } }], errors: [{ code: "GONE", description: "It is gone" }] };

function view(name: string, more: Partial<ToolSpec> | { readonly output: undefined } = {}): ToolView {
  const spec = { name, effect: "read", tags: [], permissions: [], labels: [], version: "0.0.0", timeoutMs: 1, ...good, ...more };
  return { name: `crm.${name}`, namespace: "crm", spec: spec as ToolView["spec"], line: "", signature: "", definitionDigest: "sha256:1" as ToolView["definitionDigest"], interfaceDigest: "sha256:1" as ToolView["interfaceDigest"] };
}

function found(...views: readonly ToolView[]): readonly string[] {
  return lintTools(views, { counter }).findings.map(({ rule, tool, message }) => `${rule} ${tool}: ${message}`);
}

const fields = (count: number): Record<string, JsonSchema> => Object.fromEntries(Array.from({ length: count }, (_, index) => [`field_${index}`, { type: "string" }]));

describe("lintTools", () => {
  test("finds nothing in a good tool", () => expect(found(view("get"))).toEqual([]));

  test("universal-tool: an action with fields of its own for each, however it is written", () => {
    const action = { type: "string", enum: ["create", "read", "delete"] };
    expect(found(view("manage", { input: { type: "object", properties: { action, ...fields(5) }, required: ["action"] } }))).toEqual(['universal-tool crm.manage: "action" chooses one of 3 operations, and 5 of 6 parameters are optional']);
    const branch = (kind: string, field: string): JsonSchema => ({ type: "object", properties: { kind: { const: kind }, [field]: { type: "string" } } });
    expect(found(view("manage", { input: { type: "object", oneOf: [branch("a", "x"), branch("b", "y"), branch("c", "z")] } }))[0]).toContain("universal-tool crm.manage: takes one of 3 sets of parameters, with 1 in common");
    const kinds = { type: "string", enum: ["text", "number", "date"] };
    expect(found(view("add_field", { input: { type: "object", properties: { type: kinds, ...fields(5) } } }), view("list_todos", { input: { type: "object", properties: { action, ...fields(5) } } }))).toEqual([]);
    // A mode beside arguments that are always there is an option.
    expect(found(view("arrange", { input: { type: "object", properties: { type: action, ...fields(5) }, required: Object.keys(fields(5)) } }))).toEqual([]);
  });

  test("many-parameters, token-cost, no-description, unknown-arguments", () => {
    expect(found(view("wide", { input: { type: "object", properties: fields(31) } }))).toEqual(["many-parameters crm.wide: 31 parameters"]);
    expect(found(view("wide", { input: { type: "object", properties: fields(30) } }))).toEqual([]);
    expect(found(view("dear", { description: "word ".repeat(900) }))[0]).toMatch(/^token-cost crm.dear: \d+ tokens$/);
    expect(found(view("get_customer", { description: "Get customer." }), view("x", { description: " " }))).toEqual(['no-description crm.get_customer: says nothing: "Get customer."', "no-description crm.x: no description"]);
    expect(found(view("any", { input: { type: "object" } }))).toEqual(["unknown-arguments crm.any: its arguments are not known"]);
    expect(found(view("none", { input: { type: "object", additionalProperties: false } }))).toEqual([]);
  });

  test("near-duplicate: the same arguments in nearly the same words, and no others", () => {
    const description = "Creates an issue in the project with a title and a body";
    const twins = found(view("create_issue", { description }), view("new_issue", { description: `${description}.` }), view("close_issue", { description: "Closes an issue of the project" }));
    expect(twins).toEqual(["near-duplicate crm.create_issue: nearly the same as crm.new_issue", "near-duplicate crm.new_issue: nearly the same as crm.create_issue"]);
    expect(found(view("a", { description }), view("b", { description, input: { type: "object", properties: { other: { type: "string" } } } }))).toEqual([]);
  });

  test("a rule is a note, a warning or off as the configuration says", () => {
    const bare = view("bare", { output: undefined, examples: [], errors: [] });
    expect(lintTools([bare], { counter }).findings.map(({ rule, level }) => [rule, level])).toEqual([["no-output", "note"], ["no-examples", "note"], ["no-errors", "note"]]);
    expect(lintTools([bare], { counter, levels: { "no-output": "warning", "no-examples": "off", "no-errors": "off" } }).findings.map(({ rule, level }) => [rule, level])).toEqual([["no-output", "warning"]]);
  });
});
