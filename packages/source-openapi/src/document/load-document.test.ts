import { describe, expect, test } from "vitest";
import { convertDocument } from "../convert/convert-document.ts";
import { follow, resolved } from "./local-reference.ts";
import { loadDocument } from "./load-document.ts";
import { parseDocument } from "./parse-document.ts";

/** Loads from texts by location. */
async function load(texts: Readonly<Record<string, string>>, location = "/api/root.yaml") {
  const read = (part: string): Promise<string> => (texts[part] === undefined ? Promise.reject(new Error("there is no such file")) : Promise.resolve(texts[part]));
  return await loadDocument(location, read, new AbortController().signal);
}

describe("loading a document", () => {
  test("follows references from file to file, and back, and keeps recursion", async () => {
    const { document, parts, problems } = await load({
      "/api/root.yaml": `openapi: 3.1.0
paths:
  /trees: { $ref: "./paths/trees.yaml" }
components:
  schemas:
    Leaf: { type: object, properties: { tree: { $ref: "schemas/tree.json#/definitions/Tree" } } }`,
      "/api/paths/trees.yaml": `get:
  operationId: listTrees
  responses:
    200: { description: ok, content: { application/json: { schema: { type: array, items: { $ref: "../schemas/tree.json#/definitions/Tree" } } } } }`,
      "/api/schemas/tree.json": JSON.stringify({ definitions: { Tree: { type: "object", properties: { parent: { $ref: "#/definitions/Tree" }, leaves: { type: "array", items: { $ref: "../root.yaml#/components/schemas/Leaf" } } } } } }),
    });
    expect(problems).toEqual([]);
    expect(parts.map(({ location }) => location).toSorted()).toEqual(["/api/paths/trees.yaml", "/api/root.yaml", "/api/schemas/tree.json"]);
    const [tool] = convertDocument(document).tools;
    expect(tool?.spec).toMatchObject({ name: "listTrees", output: { type: "array", $defs: { Tree: { properties: { parent: { $ref: "#/$defs/Tree" }, leaves: { items: { $ref: "#/$defs/Leaf" } } } }, Leaf: { properties: { tree: { $ref: "#/$defs/Tree" } } } } } });
  });

  test("tells what cannot be read, leaves it open, and knows that it is missing", async () => {
    const { document, parts, problems } = await load({ "/api/root.yaml": 'openapi: 3.0.3\npaths: { /a: { get: { parameters: [{ name: q, in: query, schema: { $ref: "gone.yaml#/Q" } }] } } }' });
    expect(problems.map(({ message }) => message)).toEqual(["/api/gone.yaml, to which a reference leads, cannot be used: there is no such file"]);
    expect(parts).toContainEqual({ location: "/api/gone.yaml", digest: "" });
    expect(convertDocument(document).tools).toHaveLength(1);
  });

  test("brings Swagger 2 to 3.1", async () => {
    const { document } = await load({
      "/api/root.yaml": `swagger: 2
host: api.example
basePath: /v1
schemes: [https]
securityDefinitions: { key: { type: apiKey, in: header, name: K } }
definitions: { Pet: { type: object, properties: { name: { type: string, x-nullable: true } } } }
paths:
  /pets:
    post:
      parameters:
        - { name: pet, in: body, required: true, schema: { $ref: "#/definitions/Pet" } }
        - { name: ids, in: query, type: array, items: { type: integer }, collectionFormat: pipes }
      responses: { 200: { description: ok, schema: { $ref: "#/definitions/Pet" } } }`,
    });
    const { tools, securitySchemes } = convertDocument(document);
    expect(tools[0]?.operation).toMatchObject({ servers: ["https://api.example/v1"], parameters: [{ name: "ids", style: "pipeDelimited", explode: false }], body: { from: { kind: "merged", properties: ["name"] } } });
    expect(securitySchemes).toEqual({ key: { type: "apiKey", in: "header", name: "K" } });
  });

  test("keeps bodies of Swagger 2 that operations only refer to, or have from their path", async () => {
    const { document } = await load({
      "/api/root.yaml": `swagger: "2.0"
parameters: { pet: { name: pet, in: body, required: true, schema: { type: object, required: [name], properties: { name: { type: string } } } } }
paths:
  /a: { put: { parameters: [{ $ref: "#/parameters/pet" }] } }
  /b: { parameters: [{ $ref: "#/parameters/pet" }, { name: q, in: query, type: string }], patch: {}, post: { parameters: [{ name: f, in: formData, type: string }] } }`,
    });
    const { tools, problems } = convertDocument(document);
    const inputs = tools.map(({ spec }) => [spec.name, Object.keys((spec.input as { properties: object }).properties)]);
    expect(Object.fromEntries(inputs)).toEqual({ put_a: ["name"], patch_b: ["q", "name"], post_b: ["q", "f"] });
    expect(problems).toEqual([]);
  });

  test.each([
    ["nothing", "", "it holds no object"],
    ["a page of HTML", "<!doctype html><html>", "it holds no object"],
    ["broken JSON", '{ "openapi": ', "neither JSON nor YAML"],
    ["broken YAML", "a: [1, 2\nb: }", "neither JSON nor YAML"],
    ["something else", '{ "asyncapi": "2.0" }', 'neither "openapi" nor "swagger"'],
    ["an older version", "swaggerVersion: 1.2", "version 1.2 is not one of"],
    ["a version to come", "openapi: 4.0.0", "version 4.0.0 is not one of"],
  ])("says what is wrong with %s", async (_what, text, words) => {
    await expect(load({ "/api/root.yaml": text })).rejects.toThrow(words);
  });

  test("reads versions that YAML takes for numbers", async () => {
    for (const version of ["3.1", "3.0", "'3.0.1'"]) expect(((await load({ "/api/root.yaml": `openapi: ${version}\npaths: {}` })).document as { openapi: string }).openapi).toMatch(/^3\.1/);
  });
});

describe("references within a document", () => {
  const document = { a: { "b/c": [{ "d~e": 1 }], "f g": 2, "h%": 3 } };

  test.each([
    ["#", document],
    ["#/a/b~1c/0/d~0e", 1],
    ["#/a/f%20g", 2],
    ["#/a/h%", 3],
    ["#/a/none", undefined],
    ["#/a/b~1c/x", undefined],
    ["#/__proto__", undefined],
    ["other.yaml#/a", undefined],
  ])("%s", (ref, found) => expect(follow(document, ref)).toEqual(found));

  test("are followed one after the other, not in circles", () => {
    const circle = { a: { $ref: "#/b" }, b: { $ref: "#/a" }, c: { $ref: "#/d" }, d: { e: 1 } };
    expect(resolved(circle, { $ref: "#/a" })).toBeUndefined();
    expect(resolved(circle, { $ref: "#/c" })).toEqual({ e: 1 });
    expect(resolved(circle, "text")).toBeUndefined();
  });
});

test("YAML that names a thing once and means it often is read, and aliases without end are refused", () => {
  expect(parseDocument("a: &x { b: 1 }\nc: { <<: *x, d: 2 }")).toEqual({ a: { b: 1 }, c: { b: 1, d: 2 } });
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]", ...Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(", ")}]`)];
  expect(() => parseDocument(lines.join("\n"))).toThrow("neither JSON nor YAML");
});
