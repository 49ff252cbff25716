import { hash } from "node:crypto";
import { encodeValue } from "@callgate/contract";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digestOf, digestOfWire } from "./digest.ts";

describe("digestOf", () => {
  test("is SHA-256 over RFC 8785 text", () => {
    expect(digestOf({ b: 1, a: "x" })).toBe(digestOf({ a: "x", b: 1 }));
    expect(digestOf({})).toBe("sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  });

  test("is the same as by the library's text, for any JSON of any depth", () => {
    const byLibrary = (value: unknown): string => `sha256:${hash("sha256", canonicalize(value) ?? "")}`;
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => { expect(digestOf(value)).toBe(byLibrary(value)); }));
    const odd = JSON.parse('{"__proto__":1,"10":-0,"9":{"b":1,"":[]},"\u20ac":1e-7,"\ud83d\ude00":"\u2028"}') as unknown;
    expect(digestOf(odd)).toBe(byLibrary(odd));
    let deep: unknown = "x";
    for (let depth = 0; depth < 200; depth++) deep = depth % 2 === 0 ? [deep, depth] : { b: depth, a: deep };
    expect(digestOf(deep)).toBe(byLibrary(deep));
  });

  test("out-017: one meaning has one digest; other types and other normal forms have others", () => {
    expect(digestOf({ b: 1, a: 2 })).toBe(digestOf({ a: 2, b: 1 }));
    expect(digestOf(JSON.parse("1.0"))).toBe(digestOf(1));
    const different: readonly unknown[] = [1, "1", true, "true", null, "null", [1], { "\u00e9": 1 }, { "e\u0301": 1 }];
    expect(new Set(different.map(digestOf)).size).toBe(different.length);
    expect(() => digestOf(JSON.parse("1e400"))).toThrow("Cannot digest");
  });

  test("out-006: has a digest for half a surrogate pair, and no other text has the same", () => {
    const values = ["\ud800", "\ud801", "\ufffd", "\\ud800", "\\\\ud800", "surrogates:\ud800", ["\ud800"], { "\ud800": 1 }, { "\\ud800": 1 }];
    expect(new Set(values.map(digestOf)).size).toBe(values.length);
    expect(digestOf({ a: "\ud800", b: 1 })).toBe(digestOf({ b: 1, a: "\ud800" }));
    expect(() => digestOf({ a: "\ud800", b: Number.NaN })).toThrow("Cannot digest");
  });

  test("refuses a value JSON has no word for", () => {
    for (const value of [undefined, Number.NaN, Number.POSITIVE_INFINITY, 1n, { a: [Number.NaN] }]) {
      expect(() => digestOf(value)).toThrow(expect.objectContaining({ code: "ASSERTION" }) as Error);
    }
  });

  test("tells strings with lone surrogates apart, as values and as keys", () => {
    const values = ["\ud800", "\ud801", "\ufffd", "\udc00\ud800", "\ud800\udc00", { "\ud800": 1 }, { "\ud801": 1 }, { "\ufffd": 1 }, ["\ud800"]];
    expect(new Set(values.map(digestOf)).size).toBe(values.length);
    expect(digestOf({ "\ud800": 1, a: 2 })).toBe(digestOf({ a: 2, "\ud800": 1 }));
  });
});

describe("digestOfWire", () => {
  test("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        expect(digestOfWire(encodeValue(turned))).toBe(digestOfWire(encodeValue(value)));
      }),
    );
  });

  test("tells a tagged value from the plain object that spells its tag", () => {
    const { json } = encodeValue(undefined);
    expect(digestOfWire({ json, tagged: true })).not.toBe(digestOfWire({ json, tagged: false }));
  });

  test("tells undefined from null", () => {
    expect(digestOfWire(encodeValue({ a: undefined }))).not.toBe(digestOfWire(encodeValue({ a: null })));
  });
});
