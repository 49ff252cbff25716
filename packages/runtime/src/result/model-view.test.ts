import { decodeValue, encodeValue } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { modelView } from "./model-view.ts";

describe("modelView", () => {
  // Pinned: models and docs/guide/results.md know these forms.
  test.each([
    [undefined, { $undefined: true }],
    [Number.NaN, { $number: "NaN" }],
    [Number.NEGATIVE_INFINITY, { $number: "-Infinity" }],
    [-0, { $number: "-0" }],
    [1234567890123456789n, { $bigint: "1234567890123456789" }],
    [new Date(0), { $date: "1970-01-01T00:00:00.000Z" }],
    [new Date(Number.NaN), { $date: "invalid" }],
    [new Map([["a", new Date(0)]]), { $map: [["a", { $date: "1970-01-01T00:00:00.000Z" }]] }],
    [new Set([1, undefined]), { $set: [1, { $undefined: true }] }],
    [new Uint8Array([0x89, 0x50]), { $bytes: { length: 2, head: "8950" } }],
    [Object.assign(new TypeError("no"), { code: "E", tool: "t.x" }), { $error: { name: "TypeError", message: "no", code: "E", tool: "t.x" } }],
    [Object.assign(["b"], { index: 1 }), { $array: ["b"], index: 1 }],
    [{ a: [null, "x", 1.5, true] }, { a: [null, "x", 1.5, true] }],
  ])("shows %s", (value, expected) => {
    expect(modelView(value)).toEqual(expected);
    expect(modelView(decodeValue(encodeValue(value)))).toEqual(expected);
  });

  test("a hole in a list is shown, and a property named __proto__ stays one", () => {
    const list = [1, 2];
    list.length = 3;
    expect(JSON.stringify(modelView(list))).toBe('[1,2,{"$undefined":true}]');
    expect(JSON.stringify(modelView(JSON.parse('{"__proto__":{"a":1}}')))).toBe('{"__proto__":{"a":1}}');
  });
});
