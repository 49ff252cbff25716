import { describe, expect, test } from "vitest";
import { convertDocument } from "./convert-document.ts";
import type { ConvertedTool } from "./convert-operation.ts";

/** A document of 3.1 with these operations under one path each. */
function documentOf(paths: object, components: object = {}): object {
  return { openapi: "3.1.0", info: { title: "Shop", version: "1" }, servers: [{ url: "https://shop.example/v1" }], paths, components };
}

function toolOf(operation: object, { path = "/things", method = "get", components = {}, shared = {} }: { path?: string; method?: string; components?: object; shared?: object } = {}): ConvertedTool {
  const { tools } = convertDocument(documentOf({ [path]: { ...shared, [method]: operation } }, components));
  expect(tools).toHaveLength(1);
  return tools[0] as ConvertedTool;
}

const json = (schema: object): object => ({ content: { "application/json": { schema } } });
const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });

describe("parameters", () => {
  test("become arguments of their own name, with what is said of them", () => {
    const { spec, operation } = toolOf({ operationId: "listThings", parameters: [{ name: "page[size]", in: "query", description: "How <b>many</b>.", schema: { type: "integer", default: 20 } }] });
    expect(spec.input).toEqual({ type: "object", properties: { "page[size]": { type: "integer", default: 20, description: "How many ." } }, additionalProperties: false });
    expect(operation.parameters).toEqual([{ name: "page[size]", argument: "page[size]", in: "query", required: false, style: "form", explode: true, allowReserved: false }]);
  });

  test("of the operation replace those of its path", () => {
    const { spec } = toolOf({ parameters: [{ name: "q", in: "query", schema: { type: "integer" } }] }, { shared: { parameters: [{ name: "q", in: "query", schema: { type: "string" } }, { name: "x", in: "query", schema: {} }] } });
    expect(spec.input).toMatchObject({ properties: { q: { type: "integer" }, x: {} } });
  });

  test("that share a name are told apart, and the one in the path keeps it", () => {
    const { spec, operation } = toolOf({ parameters: ["path", "query", "header"].map((place) => ({ name: "id", in: place, required: place === "path", schema: { type: "string" } })) }, { path: "/things/{id}" });
    expect(spec.input).toMatchObject({ properties: { id: {}, id_query: {}, id_header: {} }, required: ["id"] });
    expect(operation.parameters.map(({ in: place, argument }) => [place, argument])).toEqual([["path", "id"], ["query", "id_query"], ["header", "id_header"]]);
  });

  test("nobody declared are texts of the path; those without a place in it are left out and told", () => {
    const { tools, problems } = convertDocument(documentOf({ "/a/{x}": { get: { parameters: [{ name: "y", in: "path", required: true, schema: {} }] } } }));
    expect(tools[0]?.spec.input).toMatchObject({ properties: { x: { type: "string" } }, required: ["x"] });
    expect(problems.map(({ message }) => message).join()).toContain('the path parameter "y" is left out');
  });

  test("with one possible value are no question; those of media types and credentials are no arguments", () => {
    const fixed = { name: "Action", in: "query", required: true, schema: { type: "string", enum: ["List"] } };
    const { spec, operation } = toolOf({ parameters: [fixed, { name: "Accept", in: "header", schema: {} }, { name: "authorization", in: "header", schema: {} }, { name: "Idempotency-Key", in: "header", required: true, schema: {} }] });
    expect(spec.input).toEqual({ type: "object", properties: {}, additionalProperties: false });
    expect(operation).toMatchObject({ idempotencyHeader: "Idempotency-Key", parameters: [{ name: "Action", constant: "List" }] });
  });

  test("that are keys of a security scheme are never asked for", () => {
    const { spec } = toolOf({ parameters: [{ name: "api_key", in: "query", required: true, schema: {} }, { name: "X-Other", in: "header", schema: {} }] }, { components: { securitySchemes: { key: { type: "apiKey", in: "query", name: "api_key" } } } });
    expect(spec.input).toEqual({ type: "object", properties: { "X-Other": {} }, additionalProperties: false });
  });

  test("of the path that stand in its query go there", () => {
    const { tools, problems } = convertDocument(documentOf({ "/near?lat={latitude}&key={k}&units=metric": { get: { parameters: [{ name: "latitude", in: "path", required: true, schema: { type: "number" } }] } } }));
    expect(tools[0]?.spec.input).toMatchObject({ properties: { key: { type: "string" }, lat: { type: "number" } }, required: ["key", "lat"] });
    expect(tools[0]?.operation).toMatchObject({ path: "/near", parameters: [{ name: "units", constant: "metric" }, { name: "key", in: "query" }, { name: "lat", in: "query" }] });
    expect(problems).toEqual([]);
  });

  test("in the path as written: a fragment does not go over the wire, a query is fixed", () => {
    const { tools } = convertDocument(documentOf({ "/b#acl": { get: {} }, "/b?kind=one": { get: {} } }));
    expect(tools.map(({ spec, operation }) => [spec.name, operation.path, operation.parameters.map(({ name, constant }) => [name, constant])])).toEqual([
      ["get_b_acl", "/b", []],
      ["get_b_kind_one", "/b", [["kind", "one"]]],
    ]);
  });
});

describe("request bodies", () => {
  const order = object({ sku: { type: "string" }, id: { type: "string", readOnly: true }, note: { type: "string" } }, { required: ["sku", "id"] });

  test("that are plain objects give their properties, without what is only read", () => {
    const { spec, operation } = toolOf({ requestBody: { required: true, ...json({ allOf: [{ $ref: "#/components/schemas/Order" }] }) }, parameters: [{ name: "shop", in: "path", required: true, schema: { type: "string" } }] }, { method: "post", path: "/{shop}", components: { schemas: { Order: order } } });
    expect(spec.input).toEqual({ type: "object", properties: { shop: { type: "string" }, sku: { type: "string" }, note: { type: "string" } }, required: ["shop", "sku"], additionalProperties: false });
    expect(operation.body).toEqual({ mediaType: "application/json", required: true, files: [], from: { kind: "merged", properties: ["sku", "note"] } });
  });

  test.each([
    ["a name would be there twice", { required: true, ...json(object({ q: {} })) }],
    ["leaving it out is allowed and parts of it are required", json(object({ a: {} }, { required: ["a"] }))],
    ["it is a list", { required: true, ...json({ type: "array", items: {} }) }],
    ["it may be one of several", { required: true, ...json({ oneOf: [object({ a: {} }), object({ b: {} })] }) }],
    ["it takes any property", { required: true, ...json(object({ a: {} }, { additionalProperties: true })) }],
  ])("are one argument where %s", (_why, requestBody) => {
    const { spec, operation } = toolOf({ requestBody, parameters: [{ name: "q", in: "query", schema: {} }] }, { method: "post" });
    expect(Object.keys((spec.input as { properties: object }).properties)).toEqual(["q", "body"]);
    expect(operation.body?.from).toEqual({ kind: "whole", argument: "body" });
  });

  test("that say nothing and may be left out are none", () => {
    expect(toolOf({ requestBody: { content: { "application/x-www-form-urlencoded": { schema: object({}) } } } }).operation.body).toBeUndefined();
    expect(toolOf({ requestBody: { required: true, ...json(object({})) } }, { method: "post" }).operation.body?.from).toEqual({ kind: "whole", argument: "body" });
  });

  test("keep clear of a parameter called body", () => {
    const { spec } = toolOf({ requestBody: { required: true, ...json({ type: "array" }) }, parameters: [{ name: "body", in: "query", schema: {} }] }, { method: "post" });
    expect(spec.input).toMatchObject({ required: ["request_body"] });
  });

  test("of several media types are the one that arguments say best", () => {
    const content = Object.fromEntries(["text/plain", "multipart/form-data", "application/xml", "application/vnd.api+json"].map((type) => [type, { schema: object({ a: {} }) }]));
    expect(toolOf({ requestBody: { content } }, { method: "post" }).operation.body?.mediaType).toBe("application/vnd.api+json");
  });

  test("of files are texts or base64", () => {
    const upload = { content: { "multipart/form-data": { schema: object({ file: { type: "string", format: "binary" }, more: { type: "array", items: { type: "string", format: "binary" } }, name: { type: "string" } }) } } };
    const { spec, operation } = toolOf({ requestBody: upload }, { method: "post" });
    expect(operation.body?.files).toEqual(["file", "more"]);
    expect(spec.input).toMatchObject({ properties: { file: { anyOf: [{ type: "string" }, { required: ["base64"] }] }, more: { type: "array" }, name: { type: "string" } } });
    expect(toolOf({ requestBody: { required: true, content: { "application/octet-stream": {} } } }, { method: "put" }).operation.body).toMatchObject({ files: [""], from: { argument: "body" } });
  });
});

describe("responses", () => {
  test("that say success are the output, each kind once; default is an error beside them", () => {
    const responses = { 200: json({ type: "string" }), 201: json({ type: "string" }), 204: { description: "gone" }, 404: { description: "Not there" }, default: json(object({ message: {} })) };
    const { spec, operation } = toolOf({ responses });
    expect(spec.output).toEqual({ anyOf: [{ type: "string" }, { type: "null" }] });
    expect(spec.errors).toEqual([{ code: "HTTP_404", description: "Not there" }]);
    expect(operation.responses.map(({ status }) => status)).toEqual(["200", "201", "204", "404", "default"]);
  });

  test.each([
    ["nothing is said", { 200: { description: "ok" } }],
    ["it may be XML", { 200: { content: { "application/xml": {} } } }],
    ["a schema says nothing", { 200: json({ description: "anything" }) }],
    ["there is none", {}],
  ])("promise nothing where %s", (_why, responses) => expect(toolOf({ responses }).spec.output).toBeUndefined());

  test("of files tell which artifact it is, and texts are texts", () => {
    expect(toolOf({ responses: { 200: { content: { "image/png": {} } } } }).spec.output).toMatchObject({ required: ["artifact", "mediaType", "sizeBytes"] });
    expect(toolOf({ responses: { 200: { content: { "text/csv": {} } } } }).spec.output).toEqual({ type: "string" });
  });

  test("keep recursion as definitions, and leave out what is only written and what services do not keep to", () => {
    const schemas = { Node: object({ children: { type: "array", items: { $ref: "#/components/schemas/Node" } }, secret: { type: "string", writeOnly: true }, name: { type: "string", maxLength: 3, format: "date" } }, { required: ["name", "secret"], additionalProperties: false }) };
    const { spec } = toolOf({ responses: { 200: json({ $ref: "#/components/schemas/Node" }) } }, { components: { schemas } });
    expect(spec.output).toEqual({
      $ref: "#/$defs/Node",
      $defs: { Node: { type: "object", properties: { children: { type: "array", items: { $ref: "#/$defs/Node" } }, name: { type: "string" } }, required: ["name"] } },
    });
  });

  test("of which a property tells the kind are told apart by it", () => {
    const schemas = { Cat: object({ lives: { type: "integer" } }), Dog: object({ tail: { type: "boolean" } }), Pet: { oneOf: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }], discriminator: { propertyName: "kind", mapping: { cat: "#/components/schemas/Cat", pup: "Dog", dog: "#/components/schemas/Dog" } } } };
    const { spec } = toolOf({ responses: { 200: json({ $ref: "#/components/schemas/Pet" }) } }, { components: { schemas } });
    expect((spec.output as { $defs: Record<string, { anyOf?: unknown[] }> }).$defs["Pet"]?.anyOf).toEqual([
      { allOf: [{ $ref: "#/$defs/Cat" }, { type: "object", properties: { kind: { const: "cat" } }, required: ["kind"] }] },
      { allOf: [{ $ref: "#/$defs/Dog" }, { type: "object", properties: { kind: { enum: ["pup", "dog"] } }, required: ["kind"] }] },
    ]);
  });

  test("as large as a whole service are cut, nearest first", () => {
    const schemas = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`S${n}`, object({ next: { $ref: `#/components/schemas/S${n + 1}` }, text: { type: "string", description: "x".repeat(200) } })]));
    const { spec } = toolOf({ responses: { 200: json({ $ref: "#/components/schemas/S0" }) } }, { components: { schemas: { ...schemas, S400: {} } } });
    const { $defs } = spec.output as { $defs: Record<string, object> };
    expect(JSON.stringify(spec.output).length).toBeLessThan(32_000);
    expect($defs["S5"]).toMatchObject({ properties: { text: { type: "string" } } });
    expect(Object.values($defs).at(-1)).toEqual({});
  });
});

describe("what a tool says", () => {
  test("comes from the method, the summary and the description, bounded", () => {
    const { spec } = toolOf({ operationId: "pets/delete", summary: "Delete a pet", description: `<p>For good &amp; all.</p>${" More".repeat(2_000)}`, tags: ["pets"], deprecated: true }, { method: "delete", path: "/pets" });
    expect(spec).toMatchObject({ name: "pets_delete", title: "Delete a pet", effect: "destructive", tags: ["pets"], deprecated: "Its service has deprecated this operation" });
    expect(spec.description).toMatch(/^Delete a pet\n\nFor good & all\. [^]*…\n\nDELETE \/pets$/);
    expect(spec.description.length).toBeLessThan(1_050);
  });

  test("has an example where there is one for all that is required", () => {
    const parameters = [{ name: "id", in: "query", required: true, schema: { type: "string" }, example: "a1" }];
    expect(toolOf({ parameters, requestBody: { required: true, content: { "application/json": { schema: object({ n: {} }), examples: { one: { value: { n: 1 } } } } } } }, { method: "put" }).spec.examples).toEqual([{ input: { id: "a1", n: 1 } }]);
    expect(toolOf({ parameters: [...parameters, { name: "other", in: "query", required: true, schema: {} }] }).spec.examples).toEqual([]);
  });

  test("includes which arguments are passwords", () => {
    expect(toolOf({ requestBody: { required: true, ...json(object({ "a/b": { type: "string", format: "password" } })) } }, { method: "post" }).spec.sensitive).toEqual(["/input/a~1b"]);
  });

  test("is the service's own word on servers and security", () => {
    const components = { securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" }, odd: { type: "nobody knows" } } };
    const document = { ...documentOf({ "/a": { get: { security: [{ key: [] }, {}], servers: [{ url: "https://{region}.example", variables: { region: { default: "eu" } } }] } } }, components) };
    const { tools, securitySchemes } = convertDocument(document);
    expect(tools[0]?.operation).toMatchObject({ servers: ["https://eu.example"], security: [[{ scheme: "key", scopes: [] }], []] });
    expect(securitySchemes).toEqual({ key: { type: "apiKey", in: "header", name: "X-Key" } });
  });
});

describe("a document with faults", () => {
  test("loses the operation at fault and says so", () => {
    const { tools, problems } = convertDocument(documentOf({ "/a": { get: "soon" }, "/b": 3, "/c": { get: { parameters: [null, { in: "query" }, { $ref: "#/nowhere" }] } }, "x-note": {} }));
    expect(tools.map(({ spec }) => spec.name)).toEqual(["get_c"]);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining("GET /a is left out"),
      expect.stringContaining("the path /b is left out"),
      expect.stringContaining("a parameter is left out: its reference leads nowhere"),
      expect.stringContaining("it has no name, or no place"),
    ]);
  });

  test("keeps the tool where a schema is broken", () => {
    const broken = { type: "file", required: true, enum: [], properties: { a: null, b: { type: ["string", ["null"]], minLength: "3" }, c: { $ref: "#/components/schemas/Gone" }, d: { type: "int" }, __proto__x: {} } };
    const { tools, problems } = convertDocument(documentOf({ "/a": { post: { requestBody: { required: true, ...json(broken) } } } }));
    expect(tools[0]?.spec.input).toMatchObject({ properties: { body: { properties: { a: {}, b: { type: ["string", "null"] }, c: {}, d: { type: "integer" } } } } });
    expect(problems).toEqual([{ tool: "post_a", message: "POST /a: #/components/schemas/Gone leads nowhere; what it stands for is left open" }]);
  });

  test("is not followed in circles", () => {
    const schemas = { A: { $ref: "#/components/schemas/B" }, B: { $ref: "#/components/schemas/A" } };
    expect(toolOf({ requestBody: { required: true, ...json({ $ref: "#/components/schemas/A" }) } }, { method: "post", components: { schemas } }).spec.input).toMatchObject({ properties: { body: {} } });
  });

  test("or nothing of the kind gives no tools", () => {
    for (const document of [undefined, null, 3, [], {}, { paths: 3 }]) expect(convertDocument(document)).toMatchObject({ tools: [], problems: [] });
  });
});
