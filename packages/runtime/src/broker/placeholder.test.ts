import { describe, expect, test } from "vitest";
import { createSchemaValidator } from "../catalog/validation/schema-validator.ts";
import { createPlaceholders } from "./placeholder.ts";
import { variedValue } from "./varied-value.ts";
import type { ValueVariant } from "./varied-value.ts";

const made = (schema: object, isVaried = false) => createPlaceholders({ seq: 7, isVaried }).of(schema as never)?.value;
const isValid = (schema: object, value: unknown) => createSchemaValidator(schema as never).validate(value).kind === "ok";

const order = {
  type: "object",
  required: ["id", "status", "lines", "at"],
  properties: {
    id: { type: "string", minLength: 4 },
    status: { enum: ["open", "closed"] },
    at: { type: "string", format: "date-time" },
    mail: { type: "string", format: "email" },
    key: { type: "string", format: "uuid" },
    paid: { type: "boolean" },
    share: { type: "number", minimum: 0, maximum: 1 },
    count: { type: "integer", exclusiveMinimum: 3, exclusiveMaximum: 6 },
    note: { anyOf: [{ type: "null" }, { type: "string", maxLength: 9 }] },
    lines: { type: "array", minItems: 2, items: { $ref: "#/$defs/line" } },
  },
  additionalProperties: false,
  $defs: { line: { allOf: [{ type: "object", properties: { item: { type: "string" } }, required: ["item"] }, { properties: { price: { type: "number" } }, required: ["price"] }] } },
};

describe("values made of a schema", () => {
  test("are valid, and no two texts or numbers in them are the same", () => {
    const value = made(order);
    expect(isValid(order, value)).toBe(true);
    expect(value).toMatchObject({ status: "open", paid: true, share: 1, lines: [{}, {}] });
    const leaves = JSON.stringify(value).match(/"\d{4}-\d{4}-placeholder[^"]*"|9\d{8}/g) ?? [];
    expect(leaves.length).toBeGreaterThan(5);
    expect(new Set(leaves).size).toBe(leaves.length);
  });

  test.each<[string, object, unknown]>([
    ["a constant", { const: 5 }, 5],
    ["null", { type: "null" }, null],
    ["a table without names", { type: "object", additionalProperties: { type: "string" } }, {}],
    ["a pair", { type: "array", prefixItems: [{ const: 1 }, { const: 2 }], items: false }, [1, 2]],
    ["a list that must be empty", { type: "array", maxItems: 0 }, []],
    ["a pattern, by its example", { type: "string", pattern: "^#W\\d+$", examples: ["#W12"] }, "#W12"],
    ["a step", { type: "integer", multipleOf: 7, maximum: 50 }, 49],
  ])("%s", (_name, schema, expected) => expect(made(schema)).toEqual(expected));

  test("nothing is made where the schema has no end, or points outside of itself", () => {
    expect(made({ type: "object", required: ["next"], properties: { next: { $ref: "#" } } })).toBeUndefined();
    expect(made({ $ref: "https://example.com/order" })).toBeUndefined();
    expect(made({ type: "object", properties: { next: { $ref: "#" } } })).toMatchObject({ next: { next: {} } });
  });

  test("the varied one has the same shape, and every part of it that may is another", async () => {
    const plain = made(order) as Readonly<Record<string, unknown>>;
    const options = { how: "other" as const, schema: order as never, placeholders: createPlaceholders({ seq: 7, isVaried: true }), isValid: (value: unknown) => Promise.resolve(isValid(order, value)) };
    const varied = (await variedValue(plain, options)) as Readonly<Record<string, unknown>>;
    expect(isValid(order, varied)).toBe(true);
    expect(Object.keys(varied)).toEqual(Object.keys(plain));
    for (const key of Object.keys(plain)) expect({ key, same: JSON.stringify(varied[key]) === JSON.stringify(plain[key]) }).toEqual({ key, same: false });
  });

  test("a part that may not be another stays, and the others change all the same", async () => {
    const isFirst = (value: unknown): Promise<boolean> => Promise.resolve((value as { id: string }).id === "c-1");
    expect(await variedValue({ id: "c-1", open: true, n: 4 }, { how: "other", schema: undefined, placeholders: createPlaceholders({ seq: 1, isVaried: true }), isValid: isFirst })).toEqual({ id: "c-1", open: false, n: 5 });
  });

  const shipment = { type: "object", required: ["parcels", "left", "share"], properties: { parcels: { type: "array", items: { type: "object", required: ["code"], properties: { code: { type: "string" } } } }, left: { type: "number" }, share: { type: "number", minimum: 0, maximum: 1 }, note: { type: "string" }, hold: { anyOf: [{ type: "string" }, { type: "null" }] } } };

  test.each<[ValueVariant, object]>([
    ["absent", { parcels: [{ code: "a" }], left: 3, share: 1 }],
    ["empty", { parcels: [], left: 3, share: 1, note: "n", hold: "h" }],
    ["least", { parcels: [{ code: "a" }], left: -1_000_000_000_000, share: 0, note: "n", hold: "h" }],
    ["most", { parcels: [{ code: "a" }, { code: expect.stringMatching(/^0007-.*other$/) as string }], left: 1_000_000_000_000, share: 1, note: "n", hold: "h" }],
  ])("for branches on what is there: %s", async (how, expected) => {
    const isFit = (value: unknown): Promise<boolean> => Promise.resolve(isValid(shipment, value));
    const value = await variedValue({ parcels: [{ code: "a" }], left: 3, share: 1, note: "n", hold: "h" }, { how, schema: shipment as never, placeholders: createPlaceholders({ seq: 7, isVaried: true }), isValid: isFit });
    expect(value).toEqual(expected);
    expect(isValid(shipment, value)).toBe(true);
  });

  test("what is null or left out is there for once, a list that was empty has an item, and required fields that may be null are", async () => {
    const schema = { type: "object", required: ["error", "items"], properties: { error: { type: ["string", "null"] }, items: { type: "array", items: { type: "string" } }, more: { type: "string" } } };
    const vary = async (how: ValueVariant, value: unknown): Promise<unknown> => await variedValue(value, { how, schema: schema as never, placeholders: createPlaceholders({ seq: 7, isVaried: true }), isValid: (one) => Promise.resolve(isValid(schema, one)) });
    const text = expect.stringMatching(/placeholder/) as string;
    expect(await vary("most", { error: null, items: [] })).toEqual({ error: text, items: [text], more: text });
    expect(await vary("absent", { error: "x", items: ["a"], more: "m" })).toEqual({ error: null, items: ["a"] });
  });
});
