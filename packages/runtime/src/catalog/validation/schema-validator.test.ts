import type { JsonSchema } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { createSchemaValidator } from "./schema-validator.ts";

const issue: JsonSchema = {
  type: "object",
  properties: {
    title: { type: "string", minLength: 1 },
    state: { enum: ["open", "closed"] },
    labels: { type: "array", items: { type: "string" } },
    owner: { type: "object", properties: { login: { type: "string" } }, required: ["login"], additionalProperties: false },
  },
  required: ["title"],
  additionalProperties: false,
};

/** Issues as `path: message`. */
function issues(schema: JsonSchema, value: unknown): string[] {
  const result = createSchemaValidator(schema).validate(value);
  return result.kind === "ok" ? [] : result.issues.map(({ path, message }) => `${path}: ${message}`);
}

describe("createSchemaValidator", () => {
  test("says place, what was expected, what was there and the nearest names", () => {
    expect(issues(issue, { titel: "x", state: "opne", labels: ["a", 1], owner: { login: "a", "na/me": 1 } })).toEqual([
      ': missing property "title" (string); "titel" is there instead, which is not declared',
      '/titel: unknown property "titel"; did you mean "title"? Declared: title, state, labels, owner',
      '/state: expected one of "open", "closed", got string "opne"; did you mean "open"?',
      "/labels/1: expected string, got number 1",
      '/owner/na~1me: unknown property "na/me"; declared: login',
    ]);
    expect(issues(issue, { title: "" })).toEqual(['/title: must have at least 1 characters, got string ""']);
    expect(issues(issue, "x")).toEqual([': expected object, got string "x"']);
  });

  const shape = (kind: string, more: Record<string, JsonSchema>): JsonSchema => ({ type: "object", properties: { kind: { const: kind }, ...more }, required: ["kind", ...Object.keys(more)], additionalProperties: false });
  const shapes: JsonSchema = { oneOf: [shape("circle", { r: { type: "number" } }), { $ref: "#/$defs/box" }], $defs: { box: shape("box", { w: { type: "number" }, h: { type: "number" } }) } };

  test("explains a union by the branch that was meant, also through references", () => {
    expect(issues(shapes, { kind: "box", w: 1, h: "2" })).toEqual(['/h: expected number, got string "2"']);
    expect(issues({ type: "array", items: shapes, $defs: { box: (shapes as { $defs: { box: JsonSchema } }).$defs.box } }, [{ kind: "circle", r: 1 }, { kind: "circle" }])).toEqual(['/1: missing property "r" (number)']);
    expect(issues({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, ["a", 2])).toEqual(["/1: expected string, got number 2"]);
  });

  test("names all branches of a union when none was meant", () => {
    expect(issues({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, 1)).toEqual([": expected string or array of string, got number 1"]);
    expect(issues({ type: "object", anyOf: [{ required: ["id"] }, { required: ["name"] }] }, {})).toEqual([": expected object with id or object with name, got object {}"]);
  });

  test("says when alternatives that exclude each other both match", () => {
    expect(issues({ type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: 1, b: 1 })).toEqual([": matches more than one of 2 alternatives that exclude each other; leave out what belongs to the others"]);
  });

  test("counts own properties only", () => {
    expect(issues({ type: "object", required: ["toString"] }, {})).toEqual([': missing property "toString"']);
    expect(issues({ type: "object", properties: { a: {} }, additionalProperties: false }, JSON.parse('{"__proto__": 1}'))).toEqual(['/__proto__: unknown property "__proto__"; declared: a']);
  });

  test("checks formats it knows and ignores formats and keywords it does not", () => {
    expect(issues({ type: "string", format: "date" }, "2026-13-01")).toEqual(['must be a valid date, got string "2026-13-01"'].map((message) => `: ${message}`));
    expect(issues({ type: "string", format: "x-own", "x-keyword": { deep: 1 }, discriminator: { propertyName: "a" } } as JsonSchema, "anything")).toEqual([]);
  });

  test("br-027: a schema cannot switch its own check off", () => {
    expect(issues({ $async: true, type: "string" } as JsonSchema, 1)).toEqual([": expected string, got number 1"]);
    expect(issues({ $schema: "https://example.com/own", id: "x", type: "string" }, 1)).toEqual([": expected string, got number 1"]);
  });

  test("reads draft-07, 2019-09 and 2020-12, and two schemas with one $id", () => {
    for (const $schema of ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"]) {
      for (let round = 0; round < 2; round++) expect(issues({ $schema, $id: "https://example.com/x", type: "object", properties: { a: { $ref: "#/definitions/s" } }, definitions: { s: { type: "string" } } }, { a: 1 })).toEqual(["/a: expected string, got number 1"]);
    }
    expect(issues({ type: "array", items: [{ type: "string" }], additionalItems: false }, ["a", 1])).toHaveLength(1);
    expect(issues({ $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" } }, unevaluatedProperties: false } }, $ref: "#/$defs/n" }, { next: { nxt: {} } })).toEqual(['/next/nxt: unknown property "nxt"; did you mean "next"? Declared: next']);
  });

  test("never throws: a schema that goes in circles is the schema's fault", () => {
    expect(issues({ $ref: "#" }, 1)).toEqual([expect.stringMatching(/^: the tool's own schema cannot be used: /)]);
    expect(issues({ $ref: "https://example.com/x" }, 1)).toEqual([expect.stringContaining("can't resolve reference")]);
  });

  test("never changes the value", () => {
    const value = Object.freeze({ title: "x" });
    const result = createSchemaValidator({ type: "object", properties: { title: { type: "string" }, page: { type: "number", default: 1 } } }).validate(value);
    expect(result).toEqual({ kind: "ok", value: { title: "x" } });
    expect(result.kind === "ok" && result.value).toBe(value);
  });

  test("lists a bounded number of issues, and one for a huge value", () => {
    expect(issues({ type: "array", items: { type: "string" } }, Array.from({ length: 100 }, () => 1))).toHaveLength(21);
    expect(issues({ type: "array", items: { type: "string" } }, Array.from({ length: 50_000 }, () => 1))).toHaveLength(1);
  });
});

describe("createSchemaValidator against hostile schemas and values", () => {
  test("br-026: answers at once for a pattern and a text made to never end", () => {
    const hostile: JsonSchema = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" }, b: { type: "string", pattern: "^b$" } }, patternProperties: { "^(x|x)*y$": { type: "number" } } };
    expect(issues(hostile, { a: `${"a".repeat(50_000)}!`, b: "b", [`${"x".repeat(50_000)}z`]: 1 })).toHaveLength(1);
    expect(issues(hostile, { a: "aaa", b: "c" })).toEqual(['/b: must match the pattern "^b$", got string "c"']);
  });

  const nested = (levels: number, branches: number): JsonSchema => ({
    $ref: "#/$defs/l0",
    $defs: Object.fromEntries(
      Array.from({ length: levels + 1 }, (_level, index) => [
        `l${index}`,
        index === levels ? { type: "string" } : { anyOf: Array.from({ length: branches }, () => ({ type: "object", properties: { a: { $ref: `#/$defs/l${index + 1}` } }, required: ["a"] })) },
      ]),
    ),
  });
  const wrapped = (levels: number, leaf: unknown): unknown => Array.from({ length: levels }).reduce((inner) => ({ a: inner }), leaf);

  test("gives up on choices that multiply, and still accepts and explains where they do not", () => {
    expect(issues(nested(12, 12), wrapped(12, 1))).toEqual([": the tool's own schema cannot be used: checking the value against it takes more than 100000 steps"]);
    expect(issues(nested(12, 12), wrapped(12, "x"))).toEqual([]);
    expect(issues(nested(3, 3), wrapped(3, 1))).toEqual(["/a/a/a: expected string, got number 1"]);
    expect(issues(nested(4, 12), wrapped(4, 1))).toEqual([": does not match the schema"]);
  });

  test("allows a large value as many steps as it needs", () => {
    const list: JsonSchema = { type: "array", items: { $ref: "#/$defs/row" }, $defs: { row: { type: "object", properties: { a: { $ref: "#/$defs/text" }, b: { $ref: "#/$defs/text" } } }, text: { type: "string" } } };
    expect(issues(list, Array.from({ length: 150_000 }, () => ({ a: "x", b: "y" })))).toEqual([]);
  });

  test("compares many items in linear time", () => {
    const rows = Array.from({ length: 100_000 }, (_row, index) => ({ id: index }));
    expect(issues({ type: "array", uniqueItems: true }, rows)).toEqual([]);
    expect(issues({ type: "array", uniqueItems: true }, [...rows, { id: 7 }])).toEqual([": must not hold an item twice, got array of 100001"]);
    expect(issues({ type: "array", uniqueItems: true }, [{ a: 1, b: 2 }, { b: 2, a: 1 }])).toHaveLength(1);
    expect(issues({ type: "array", uniqueItems: true }, [1, "1", true, [1], null])).toEqual([]);
  });
});
