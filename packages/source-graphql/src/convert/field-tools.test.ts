import { buildSchema } from "graphql";
import { describe, expect, test } from "vitest";
import { shopSchema } from "../fixtures/shop-schema.ts";
import { fieldTools } from "./field-tools.ts";

const tools = new Map(fieldTools(buildSchema(shopSchema), 2).map((tool) => [tool.name, tool]));
const toolOf = (name: string) => {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
};
const propertiesOf = (schema: unknown): Record<string, unknown> => (schema as { readonly properties: Record<string, unknown> }).properties;

describe("a field of the query or mutation type", () => {
  test("is a tool with its arguments, the effect of its type and its signature", () => {
    expect(toolOf("article")).toMatchObject({ effect: "read", description: "One article\n\nquery article(id: ID!): Article", input: { properties: { id: { type: "string" }, select: { type: "string" } }, required: ["id"], additionalProperties: false } });
    expect(toolOf("setLeft")).toMatchObject({ effect: "write", input: { required: ["id", "left"] } });
    expect(toolOf("query_supplier").deprecated).toBe("use article");
  });

  test("takes input objects that hold themselves as definitions; what may be left out may be null", () => {
    expect(toolOf("articles").input).toMatchObject({
      properties: { filter: { anyOf: [{ $ref: "#/$defs/Filter" }, { type: "null" }] }, first: { type: ["integer", "null"] } },
      $defs: {
        Filter: { properties: { size: { type: ["string", "null"], enum: ["SMALL", "LARGE", null] }, and: { type: ["array", "null"], items: { $ref: "#/$defs/Filter" } } }, additionalProperties: false },
        Range: { minProperties: 1, maxProperties: 1 },
      },
    });
  });

  test("has no select where there is nothing to select, and another word for it where that is taken", () => {
    expect(toolOf("count").input).toEqual({ type: "object", properties: {}, additionalProperties: false });
    expect(Object.keys(propertiesOf(toolOf("select").input))).toEqual(["select", "select_"]);
  });
});

describe("what a field gives", () => {
  test("has the fields that always come as required, and all others as possible", () => {
    const [article] = (toolOf("article").output as { readonly anyOf: readonly { readonly required: readonly string[] }[] }).anyOf;
    expect(article?.required).toEqual(["id", "name", "left", "price", "size", "added", "extra", "tags", "supplier"]);
    expect(Object.keys(propertiesOf(article))).toEqual(expect.arrayContaining(["old", "near", "orders"]));
    expect(propertiesOf(article)["supplier"]).toMatchObject({ anyOf: [{ required: ["id", "name"], properties: { parent: { anyOf: [{ $ref: "#/$defs/Supplier" }, { type: "null" }] } } }, { type: "null" }] });
    expect(propertiesOf(article)["price"]).toEqual({ type: ["number", "null"] });
    expect(propertiesOf(article)["left"]).toEqual({ type: "integer", description: "Pieces on the shelf" });
  });

  test("counts a page as what is on it", () => {
    expect(toolOf("orders").output).toMatchObject({ required: ["totalCount", "nodes", "pageInfo"], properties: { nodes: { items: { required: ["id", "count", "article"] } } } });
  });

  test("tells by __typename which of several it is", () => {
    expect(toolOf("search").output).toMatchObject({ items: { anyOf: [{ properties: { __typename: { const: "Article" } } }, { properties: { __typename: { const: "Supplier" } } }] } });
    expect(toolOf("thing").output).toMatchObject({ anyOf: [{ required: ["__typename", "id", "name"], properties: { __typename: { const: "Article" } } }, { type: "null" }] });
  });

  test("has a type whose parts hold each other, as definitions", () => {
    const { $defs } = toolOf("article").output as { readonly $defs: Record<string, object> };
    expect(Object.keys($defs)).toEqual(expect.arrayContaining(["Article", "Supplier", "OrderConnection", "Order"]));
    expect($defs["Supplier"]).not.toHaveProperty("required");
  });
});
