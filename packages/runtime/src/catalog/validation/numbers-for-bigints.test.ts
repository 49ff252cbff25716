import { describe, expect, test } from "vitest";
import { numbersForBigInts } from "./numbers-for-bigints.ts";
import { createSchemaValidator } from "./schema-validator.ts";

describe("numbersForBigInts", () => {
  test("gives the same value when there is nothing to do, and a copy otherwise", () => {
    const plain = { a: [1, { b: "x" }], at: new Date(0) };
    expect(numbersForBigInts(plain)).toBe(plain);
    const exact = { id: 2n ** 60n, list: [1n] };
    expect(numbersForBigInts(exact)).toEqual({ id: 2 ** 60, list: [1] });
    expect(exact.id).toBe(2n ** 60n);
  });
});

describe("createSchemaValidator", () => {
  test("code-mode 13, out-009: takes an exact 19-digit id where an integer is asked for, and hands it on unchanged", () => {
    const ids = createSchemaValidator({ type: "object", properties: { id: { type: "integer" } }, required: ["id"] });
    const value = { id: 1234567890123456789n };
    expect(ids.validate(value)).toEqual({ kind: "ok", value });
    expect(createSchemaValidator({ type: "string" }).validate(1n).kind).toBe("invalid");
  });
});
