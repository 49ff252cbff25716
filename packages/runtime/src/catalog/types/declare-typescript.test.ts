import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { JsonSchema, Tool } from "@callgate/contract";
import fc from "fast-check";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { defineTool } from "../../source/define-tool.ts";
import { identifierOf } from "../naming.ts";
import { createSchemaValidator } from "../validation/schema-validator.ts";
import { declareTypeScript, maxSignatureChars, signatureLine } from "./declare-typescript.ts";

const catalogs = new URL("../../../../../../shared/data/mcp/", import.meta.url);

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ ...defineTool({ name, description: `Does ${name}`, input: { type: "object" }, handler: () => null }), ...more });

const declare = (...tools: readonly Tool[]): string => declareTypeScript("t", tools.map((spec) => ({ member: spec.name, spec })));

/** Compiles texts under `strict`, warm: one language service, so that a text costs milliseconds. */
function createCompiler() {
  const texts = new Map<string, { text: string; version: number }>();
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => ({ strict: true, target: ts.ScriptTarget.ES2022, lib: ["lib.es2022.d.ts"], types: [], noEmit: true }),
    getScriptFileNames: () => [...texts.keys()],
    getScriptVersion: (name) => String(texts.get(name)?.version ?? 0),
    getScriptSnapshot: (name) => {
      const text = texts.get(name)?.text ?? ts.sys.readFile(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => "/",
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (name) => texts.has(name) || ts.sys.fileExists(name),
    readFile: (name) => texts.get(name)?.text ?? ts.sys.readFile(name),
  };
  const service = ts.createLanguageService(host);
  const put = (name: string, text: string): void => void texts.set(name, { text, version: (texts.get(name)?.version ?? 0) + 1 });
  return {
    /** Errors of a declaration and of a program that uses it, as `file:line message`. */
    errors(declaration: string, program = ""): string[] {
      put("/tools.d.ts", declaration);
      put("/program.ts", `export {};\n${program}`);
      return ["/tools.d.ts", "/program.ts"].flatMap((file) =>
        [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)].map((error) => {
          const line = error.file === undefined ? 0 : error.file.getLineAndCharacterOfPosition(error.start ?? 0).line;
          return `${file}:${line} ${ts.flattenDiagnosticMessageText(error.messageText, " ")}`;
        }),
      );
    },
  };
}

const compiler = createCompiler();

/** Which of the values TypeScript accepts for the type of a schema. Fails when the declaration itself does not compile. */
function accepted(schema: JsonSchema, values: readonly unknown[]): boolean[] {
  const declaration = declare(tool("f", { output: schema }));
  // U+2028 would count as a line end and shift the lines of the errors.
  const lines = values.map((value, index) => `const v${index}: T = ${JSON.stringify(value).replace(/\u2028/g, "\\u2028")};`);
  const errors = compiler.errors(declaration, `type T = Awaited<ReturnType<typeof import("tools/t").f>>;\n${lines.join("\n")}`);
  expect(errors.filter((error) => !error.startsWith("/program.ts")), declaration).toEqual([]);
  const refused = new Set(errors.map((error) => Number(/^\/program\.ts:(\d+)/.exec(error)?.[1]) - 2));
  return values.map((_value, index) => !refused.has(index));
}

/** Asserts that schema and type give the same verdict on each value. */
function expectAgreement(schema: JsonSchema, values: { readonly good: readonly unknown[]; readonly bad: readonly unknown[] }): void {
  const validator = createSchemaValidator(schema);
  const all = [...values.good, ...values.bad];
  const verdict = all.map((_value, index) => index < values.good.length);
  expect(all.map((value) => validator.validate(value).kind === "ok"), "the validator").toEqual(verdict);
  expect(accepted(schema, all), declare(tool("f", { output: schema }))).toEqual(verdict);
}

const closed = (properties: Record<string, JsonSchema>, required: readonly string[] = Object.keys(properties)): JsonSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** `if`, `then`, `else`; from a list, because an object with a member `then` looks like a promise to lint. */
const conditional = (...parts: [condition: JsonSchema, met: JsonSchema, otherwise: JsonSchema]): Record<string, unknown> =>
  Object.fromEntries(["if", "then", "else"].map((keyword, index) => [keyword, parts[index]]));

describe("declareTypeScript", () => {
  test("writes one function per tool, with documentation and the argument optional where nothing is required", () => {
    const text = declare(
      tool("get_doc", {
        description: "Reads a document.",
        effect: "read",
        whenToUse: "You know its id",
        errors: [{ code: "NOT_FOUND", description: "No such document" }],
        examples: [{ input: { id: "doc-1" } }],
        input: { type: "object", properties: { id: { type: "string", description: "Its id", minLength: 1 }, page: { type: "integer", default: 1 } }, required: ["id"] },
        output: { type: "object", properties: { content: { type: "string" } }, required: ["content"] },
      }),
      tool("list_docs", { input: { type: "object", properties: { limit: { type: "number", maximum: 100 } } } }),
    );
    expect(text).toMatchInlineSnapshot(`
      "declare module "tools/t" {
        /**
         * Reads a document.
         * When to use: You know its id
         * @effect read
         * @throws NOT_FOUND: No such document
         * @example {"id":"doc-1"}
         */
        export function get_doc(input: {
          /**
           * Its id
           * @constraint minLength 1
           */
          id: string;
          /** @default 1 */
          page?: number;
        }): Promise<{
          content: string;
        }>;

        /**
         * Does list_docs
         * @effect write
         */
        export function list_docs<Output = unknown>(input?: {
          /** @constraint maximum 100 */
          limit?: number;
        }): Promise<Output>;
      }
      "
    `);
    expect(compiler.errors(text)).toEqual([]);
  });

  test("takes no argument where a tool declares none, and any where it says so", () => {
    expect(declare(tool("now", { input: { type: "object", properties: {} } }))).toContain("now<Output = unknown>(input?: { [key: string]: never }): Promise<Output>");
    expect(declare(tool("store", { input: { type: "object" } }))).toMatch(/store<Output = unknown>\(input\?: \{\s*\[key: string\]: unknown;?\s*\}\): Promise<Output>/);
    expect(declare(tool("echo", { input: { type: "object", additionalProperties: true } }))).toContain("echo<Output = unknown>(input?: {\n    [key: string]: unknown;\n  }): Promise<Output>");
  });

  test("claims nothing about an undeclared output, and lets the program say what it expects", () => {
    const text = declare(tool("list"));
    const program = (body: string) => compiler.errors(text, `import { list } from "tools/t";\n${body}`);
    expect(program("const rows: { id: string }[] = await list();\nconst more = await list<string[]>();\nrows[0]?.id.length; more.length;")).toEqual([]);
    expect(program("const rows = await list();\nrows.length;")).toEqual(["/program.ts:3 'rows' is of type 'unknown'."]);
  });

  test("gives a paged tool a member that turns its pages, of the types the tool has", () => {
    const paged = { paged: true, output: closed({ page: { type: "array", items: { type: "string" } }, next: { type: "object" } }, ["page"]) };
    const text = declare(tool("list", { ...paged, input: closed({ q: { type: "string" } }) }), tool("all", paged), tool("pages"));
    const errors = compiler.errors(text, 'import { all, list, pages } from "tools/t";\nfor await (const page of list.pages({ q: "x" })) page[0]?.length;\nfor await (const page of all.pages()) page[0]?.trim();\nlist.pages({});\nfor await (const page of all.pages()) page.page;\nvoid pages({});');
    expect(errors.map((error) => error.replace(/^(\S+) (.{0,60}).*$/, "$1 $2"))).toEqual([expect.stringMatching(/^\/program\.ts:4 .*(?:Property 'q' is missing|Argument)/), expect.stringMatching(/^\/program\.ts:5 Property 'page' does not exist/)]);
  });

  test("code-mode 11: keeps a nullable element inside the array", () => {
    expectAgreement({ type: "array", items: { type: ["string", "null"] } }, { good: [["a", null], []], bad: ["a", null, [1]] });
  });

  test("code-mode 11: resolves every reference, also the second to one target and the escaped ones", () => {
    const schema: JsonSchema = {
      ...(closed({ a: { $ref: "#/$defs/id" }, b: { $ref: "#/$defs/id" }, c: { $ref: "#/definitions/x~1y%20z" }, d: { $ref: "#/properties/a" }, e: { $ref: "#name" } }, ["a"]) as object),
      $defs: { id: { type: "string" }, named: { $anchor: "name", type: "boolean" } },
      definitions: { "x/y z": { type: "number" } },
    };
    expectAgreement(schema, { good: [{ a: "1", b: "2", c: 3, d: "4", e: true }], bad: [{ a: 1 }, { a: "1", b: 2 }, { a: "1", c: "3" }, { a: "1", d: 4 }, { a: "1", e: "x" }] });
  });

  test("code-mode 11: follows recursion, through definitions and to the root", () => {
    const node = closed({ value: { type: "number" }, next: { $ref: "#" } }, ["value"]);
    expectAgreement(node, { good: [{ value: 1, next: { value: 2, next: { value: 3 } } }], bad: [{ value: 1, next: { value: "2" } }, { value: 1, next: { value: 1, next: {} } }] });
    const tree: JsonSchema = { $ref: "#/$defs/tree", $defs: { tree: closed({ children: { type: "array", items: { $ref: "#/$defs/tree" } } }) } };
    expectAgreement(tree, { good: [{ children: [{ children: [] }] }], bad: [{ children: [{}] }, { children: [{ children: [1] }] }] });
  });

  test("code-mode 11: a schema that never ends still compiles", () => {
    for (const schema of [
      { $ref: "#" },
      { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" },
      { $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }, { type: "string" }] } }, type: "array", items: { $ref: "#/$defs/a" } },
      { $defs: { x: { allOf: [{ type: "object", properties: { p: { $ref: "#/$defs/y" } } }, { $ref: "#/$defs/y" }] }, y: { anyOf: [{ $ref: "#/$defs/x" }, { type: "null" }] } }, $ref: "#/$defs/x" },
    ]) {
      expect(compiler.errors(declare(tool("f", { output: schema })))).toEqual([]);
    }
  });

  test("code-mode 11: reads a property that is literally named $ref, $defs, properties or type", () => {
    const named = { $ref: { type: "string" }, $defs: { type: "number" }, properties: { type: "boolean" }, type: { const: "x" } };
    const value = { $ref: "#/nowhere", $defs: 1, properties: true, type: "x" };
    expectAgreement(closed(named as Record<string, JsonSchema>), { good: [value], bad: [{ ...value, $ref: 1 }, { ...value, type: "y" }] });
  });

  test("code-mode 11: gives enums in arrays and unions of literals", () => {
    expectAgreement({ type: "array", items: { enum: ["a", "b"] } }, { good: [["a", "b", "a"]], bad: [["c"], "a"] });
    expectAgreement({ enum: ["a", 1, null, true, { k: [1] }] }, { good: ["a", 1, null, true, { k: [1] }], bad: ["b", 2, false, { k: [2] }, {}] });
    expectAgreement({ type: "string", enum: ["a", 1] }, { good: ["a"], bad: [1] });
  });

  test("code-mode 11: prints any property name and any text of a schema as harmless text", () => {
    const names = ["get-user", "3d", "名前", "a b", "*/", "\"'`${x}", "\u2028", "\n", "", "constructor", "delete", "x: any; //"];
    const schema = closed(Object.fromEntries(names.map((name) => [name, { const: name, description: `*/ ${name} */ declare const leaked: string; /*`, default: "*/" }])));
    expectAgreement(schema, { good: [Object.fromEntries(names.map((name) => [name, name]))], bad: [{}] });
    const text = declare(tool("f", { description: "*/ export const leaked: string; /*\r\n * @effect read", input: schema, deprecated: "*/ }", errors: [{ code: "A", description: "*/ }" }] }));
    expect(compiler.errors(text, 'import { leaked } from "tools/t";')).toEqual([expect.stringContaining("no exported member 'leaked'")]);
  });

  test("code-mode 11: says constraints, defaults and formats that a type cannot", () => {
    const text = declare(
      tool("f", {
        input: {
          type: "object",
          properties: {
            a: { type: "string", format: "date", minLength: 2, maxLength: 5, pattern: "^a*/b$", default: "ab" },
            b: { type: "array", items: { type: "number", minimum: 1 }, maxItems: 3, uniqueItems: true },
            c: { type: "number", exclusiveMaximum: 9, multipleOf: 3, deprecated: true, examples: [3] },
          },
        },
      }),
    );
    for (const said of ["format date, pattern ^a*\\/b$, minLength 2, maxLength 5", '@default "ab"', "maxItems 3, uniqueItems, each item: minimum 1", "exclusiveMaximum 9, multipleOf 3", "@deprecated", "@example 3"]) {
      expect(text).toContain(said);
    }
    expect(compiler.errors(text)).toEqual([]);
  });

  test("code-mode 11: declares no name twice", () => {
    const item = { $ref: "#/$defs/item", $defs: { item: { type: "object" } } };
    const other = { type: "object", properties: { a: { $ref: "#/$defs/a/$defs/item" }, b: { $ref: "#/$defs/b/$defs/item" } }, $defs: { a: { $defs: { item: { type: "string" } } }, b: { $defs: { item: { type: "number" } } } } };
    expect(compiler.errors(declare(tool("a_b", { input: other, output: item }), tool("aB", { output: item }), tool("ab", { output: item })))).toEqual([]);
  });

  test("reads both dialects of tuples, nullable and exclusive bounds", () => {
    expectAgreement({ type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false, minItems: 2 }, { good: [["a", 1]], bad: [["a"], [1, "a"], ["a", 1, 2]] });
    expectAgreement({ type: "array", items: [{ type: "string" }], additionalItems: { type: "number" } }, { good: [[], ["a"], ["a", 1, 2]], bad: [[1], ["a", "b"]] });
    expectAgreement({ type: "string", nullable: true }, { good: ["a", null], bad: [1] });
    expectAgreement({ enum: ["a"], nullable: true }, { good: ["a", null], bad: ["b"] });
    expectAgreement({ allOf: [closed({ a: { type: "string" } })], nullable: true }, { good: [{ a: "x" }, null], bad: [{ a: 1 }, "x"] });
    expect(createSchemaValidator({ type: "number", minimum: 1, exclusiveMinimum: true }).validate(1).kind).toBe("invalid");
  });

  test("tells the members of a tagged union apart", () => {
    const shape = (kind: string, more: Record<string, JsonSchema>) => closed({ kind: { const: kind }, ...more });
    const schema = { oneOf: [shape("circle", { r: { type: "number" } }), shape("box", { w: { type: "number" }, h: { type: "number" } })], discriminator: { propertyName: "kind" } };
    expectAgreement(schema, { good: [{ kind: "circle", r: 1 }, { kind: "box", w: 1, h: 2 }], bad: [{ kind: "circle", w: 1, h: 2 }, { kind: "box", w: 1 }, { kind: "line" }, { r: 1 }] });
  });

  test("narrows branches by what is known of the value", () => {
    const either: JsonSchema = { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, additionalProperties: false, anyOf: [{ required: ["a"] }, { required: ["b"] }] };
    expectAgreement(either, { good: [{ a: "x" }, { b: 1 }, { a: "x", b: 1 }], bad: [{}, { a: 1 }, "x"] });
    expect(declare(tool("f", { output: either }))).not.toContain("string | number | boolean");
    const base: JsonSchema = { allOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }, { type: "object", properties: { b: { type: "number" } }, required: ["b"] }] };
    expectAgreement(base, { good: [{ a: "x", b: 1 }], bad: [{ a: "x" }, { b: 1 }, { a: "x", b: "y" }] });
  });

  test("says maps, keys by pattern and closed key sets", () => {
    expectAgreement({ type: "object", additionalProperties: { type: "number" } }, { good: [{}, { a: 1 }], bad: [{ a: "x" }, [1], "x"] });
    expectAgreement({ type: "object", patternProperties: { "^x-": { type: "number" } }, properties: { a: { type: "string" } }, additionalProperties: false }, { good: [{ "x-1": 1, a: "s" }, {}], bad: [{ "x-1": "s" }, { a: 1 }, { b: 1 }] });
    expectAgreement({ type: "object", propertyNames: { enum: ["a", "b"] }, additionalProperties: { type: "number" }, required: ["a"] }, { good: [{ a: 1 }, { a: 1, b: 2 }], bad: [{}, { a: 1, c: 1 }, { a: "x" }] });
    expect(compiler.errors(declare(tool("f", { output: { type: "object", properties: { n: { type: "number" } }, patternProperties: { "^x-": { type: "boolean" } }, additionalProperties: { type: "string" } } })))).toEqual([]);
  });

  test("says not, if and dependent properties where a type can", () => {
    expectAgreement({ type: ["string", "number"], not: { type: "string" } }, { good: [1], bad: ["a"] });
    expectAgreement({ type: "object", properties: { a: { type: "string" } }, additionalProperties: true, not: { required: ["b"] } }, { good: [{ a: "x" }, { c: 1 }], bad: [{ b: 1 }] });
    expectAgreement(
      { ...(closed({ k: { enum: ["a", "b"] }, n: { type: "number" } }, ["k"]) as object), ...conditional({ properties: { k: { const: "a" } }, required: ["k"] }, { required: ["n"] }, true) },
      { good: [{ k: "a", n: 1 }, { k: "b" }], bad: [{ k: "c" }] },
    );
    expectAgreement({ ...(closed({ a: { type: "string" }, b: { type: "string" } }, []) as object), dependentRequired: { a: ["b"] } }, { good: [{}, { b: "x" }, { a: "x", b: "y" }], bad: [{ a: "x" }] });
    expectAgreement({ not: {} }, { good: [], bad: [1, {}] });
    expectAgreement(closed({ a: true, b: false }, ["a"]), { good: [{ a: 1 }, { a: null }], bad: [{ a: 1, b: 1 }, {}] });
  });

  test("stays small and compiles for schemas made to explode", () => {
    const choice = (count: number, tag: string): JsonSchema => ({ anyOf: Array.from({ length: count }, (_branch, index) => closed({ [`${tag}${index}`]: { type: "string" } })) });
    const wide = Array.from({ length: 8 }, (_part, index) => choice(12, `p${index}_`));
    const byName = { allOf: wide.map((_part, index) => ({ $ref: `#/$defs/d${index}` })), $defs: Object.fromEntries(wide.map((part, index) => [`d${index}`, part])) };
    const doubling = { $ref: "#/$defs/x0", $defs: Object.fromEntries(Array.from({ length: 40 }, (_level, index) => [`x${index}`, index === 39 ? { type: "string" } : { allOf: [{ $ref: `#/$defs/x${index + 1}` }, { anyOf: [{ $ref: `#/$defs/x${index + 1}` }, { $ref: `#/$defs/x${index + 1}` }] }] }])) };
    for (const output of [{ allOf: wide }, byName, doubling] as JsonSchema[]) {
      const text = declare(tool("f", { output }));
      expect(text.length).toBeLessThan(60_000);
      expect(compiler.errors(text, 'type T = Awaited<ReturnType<typeof import("tools/t").f>>;\nconst t: T = null as never; t;')).toEqual([]);
    }
  });

  test("prints a huge enum as its base type", () => {
    const values = Array.from({ length: 2_000 }, (_value, index) => `v${index}`);
    expect(declare(tool("f", { output: { enum: values } })).length).toBeLessThan(500);
  });

  test.skipIf(!existsSync(catalogs))("declares all tools of 22 real MCP servers so that tsc --strict accepts them (skipped without ../shared/data/mcp)", () => {
    const files = readdirSync(catalogs).filter((name) => name !== "servers.json");
    expect(files.length).toBeGreaterThanOrEqual(22);
    for (const file of files) {
      const { tools } = JSON.parse(readFileSync(new URL(file, catalogs), "utf8")) as { tools: { name: string; description?: string; inputSchema: JsonSchema; outputSchema?: JsonSchema }[] };
      const specs = tools.map(({ name, description, inputSchema, outputSchema }) => tool(identifierOf(name, "tool"), { description: description ?? "", input: inputSchema, ...(outputSchema === undefined ? {} : { output: outputSchema }) }));
      expect(compiler.errors(declare(...specs)), file).toEqual([]);
    }
  }, 120_000);
});

// What follows makes schemas of the part of JSON Schema that a static type can say exactly, and values that are near them.

const names = ["a", "b", "x-1"];
const atoms: readonly unknown[] = ["s", "t", "", 0, 1, 2.5, true, false, null];

const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 2, withCrossShrink: true }, fc.constantFrom(...atoms), fc.array(tie("value"), { maxLength: 3 }), fc.dictionary(fc.constantFrom(...names, "z"), tie("value"), { maxKeys: 3, noNullPrototype: true })),
})).value;

const exact = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<JsonSchema>({ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "null" }, { type: ["string", "null"] }, { type: ["number", "boolean"] }),
    fc.constantFrom<JsonSchema>(true, {}, { const: "s" }, { const: null }, { enum: ["s", 1, true] }, { type: "string", enum: ["s", "t", 1] }, { type: "string", nullable: true }),
    fc.record({ type: fc.constant("array"), items: tie("schema") }),
    fc.record({ type: fc.constant("array"), prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }), items: fc.oneof(fc.constant(false), tie("schema")), minItems: fc.nat(2) }),
    fc
      .record({ properties: fc.dictionary(fc.constantFrom(...names), tie("schema"), { maxKeys: 3, noNullPrototype: true }), required: fc.subarray(names), open: fc.boolean() })
      .map(({ properties, required, open }): JsonSchema => ({ type: "object", properties, required: required.filter((name) => Object.hasOwn(properties, name)), additionalProperties: open })),
    tie("schema").map((schema): JsonSchema => ({ $ref: "#/$defs/d", $defs: { d: schema } })),
  ),
}));

/** Moves nested definitions to the root, where pointers find them. */
function hoist(schema: JsonSchema): JsonSchema {
  const definitions: Record<string, unknown> = {};
  const walk = (at: unknown): unknown => {
    if (Array.isArray(at)) return at.map(walk);
    if (typeof at !== "object" || at === null) return at;
    const record = at as Record<string, unknown>;
    const nested = record["$defs"] as { d: unknown } | undefined;
    if (nested === undefined) return Object.fromEntries(Object.entries(record).map(([key, item]) => [key, walk(item)]));
    const name = `d${Object.keys(definitions).length}`;
    definitions[name] = true;
    definitions[name] = walk(nested.d);
    return { $ref: `#/$defs/${name}` };
  };
  const root = walk(schema);
  return typeof root === "object" ? { ...root, $defs: definitions } : (root as boolean);
}

/** A value that follows the schema, but for a slip here and there. */
function near(schema: unknown, root: JsonSchema, depth = 0): fc.Arbitrary<unknown> {
  if (typeof schema !== "object" || schema === null || depth > 6) return anyValue;
  const at = schema as Record<string, unknown>;
  const child = (item: unknown): fc.Arbitrary<unknown> => near(item, root, depth + 1);
  const slip = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.oneof({ arbitrary, weight: 8 }, { arbitrary: anyValue, weight: 1 });
  if (typeof at["$ref"] === "string") return child((root as { $defs: Record<string, unknown> }).$defs[at["$ref"].slice("#/$defs/".length)]);
  for (const keyword of ["anyOf", "oneOf", "allOf"]) if (Array.isArray(at[keyword])) return slip(fc.oneof(...(at[keyword] as unknown[]).map(child)));
  if (at["type"] === "object") {
    const properties = at["properties"] as Record<string, unknown>;
    const record = fc.record(Object.fromEntries(Object.entries(properties).map(([name, item]) => [name, child(item)])), { requiredKeys: at["required"] as string[], noNullPrototype: true });
    return slip(fc.oneof({ arbitrary: record, weight: 3 }, { arbitrary: fc.tuple(record, anyValue).map(([value, extra]) => ({ ...value, z: extra })), weight: 1 }));
  }
  if (Array.isArray(at["prefixItems"])) return slip(fc.tuple(...(at["prefixItems"] as unknown[]).map(child)).chain((items) => fc.subarray(items)));
  if (at["type"] === "array") return slip(fc.array(child(at["items"]), { maxLength: 3 }));
  return anyValue;
}

const withValues = (schemas: fc.Arbitrary<JsonSchema>) => schemas.map(hoist).chain((schema) => fc.tuple(fc.constant(schema), fc.array(near(schema, schema), { minLength: 6, maxLength: 10 })));

describe("declareTypeScript and the validator", () => {
  test("code-mode 11: agree on every value, both ways, where a type can say what the schema says", () => {
    fc.assert(
      fc.property(withValues(exact.schema), ([schema, values]) => {
        const validator = createSchemaValidator(schema);
        expect(accepted(schema, values), declare(tool("f", { output: schema }))).toEqual(values.map((value) => validator.validate(value).kind === "ok"));
      }),
      { numRuns: 100 },
    );
  }, 120_000);

  const loose = fc.oneof(
    exact.schema,
    fc.record({ anyOf: fc.array(exact.schema, { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(exact.schema, { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(exact.schema, { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: exact.schema }),
    fc.tuple(exact.schema, exact.schema, exact.schema).map(([condition, met, otherwise]) => conditional(condition, met, otherwise)),
    fc.record({ anyOf: fc.array(exact.schema, { minLength: 1, maxLength: 2 }), allOf: fc.array(exact.schema, { minLength: 1, maxLength: 2 }) }),
    fc.record({ type: fc.constant("object"), properties: fc.dictionary(fc.constantFrom(...names), exact.schema, { maxKeys: 2, noNullPrototype: true }), required: fc.constant([]), additionalProperties: exact.schema }),
    fc.record({ type: fc.constant("object"), properties: fc.constant({}), required: fc.constant([]), patternProperties: fc.record({ "^x-": exact.schema, b$: exact.schema }), additionalProperties: exact.schema }),
    fc.record({ type: fc.constant("object"), properties: fc.constant({ a: true, b: true }), required: fc.constant([]), additionalProperties: fc.constant(true), dependentRequired: fc.constant({ a: ["b"] }) }),
    fc.record({ type: fc.constant("array"), items: exact.schema, minItems: fc.nat(2), uniqueItems: fc.boolean() }),
  ) as fc.Arbitrary<JsonSchema>;

  test("code-mode 11: the type accepts every value the schema accepts, whatever is combined", () => {
    fc.assert(
      fc.property(withValues(loose), ([schema, values]) => {
        const validator = createSchemaValidator(schema);
        const good = values.filter((value) => validator.validate(value).kind === "ok");
        expect(accepted(schema, good), declare(tool("f", { output: schema }))).toEqual(good.map(() => true));
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});

describe("signatureLine", () => {
  test("is one bounded line whatever the tool", () => {
    const wide = { type: "object", properties: Object.fromEntries(Array.from({ length: 300 }, (_value, index) => [`parameter_${index}`, { type: "string", description: "line\nline" }])) };
    const deep = Array.from({ length: 40 }).reduce<JsonSchema>((inner) => ({ type: "object", properties: { inner } }), { type: "string" });
    for (const input of [wide, deep, { enum: Array.from({ length: 400 }, (_value, index) => ({ index })) }]) {
      const line = signatureLine({ member: "f", spec: tool("f", { input: input as JsonSchema }) });
      expect(line.length).toBeLessThanOrEqual(maxSignatureChars);
      expect(line).not.toContain("\n");
      expect(line.startsWith("f")).toBe(true);
    }
  });
});
