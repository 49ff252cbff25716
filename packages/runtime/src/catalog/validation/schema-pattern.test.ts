import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readPattern, tolerantPattern } from "./schema-pattern.ts";

describe("readPattern", () => {
  test("answers in linear time where a backtracking engine would not return", () => {
    const text = `${"a".repeat(200_000)}!`;
    for (const pattern of ["^(a+)+$", "^(a|a)*$", "(a*)*b", "^(a|aa)+$"]) expect(readPattern(pattern)?.test(text)).toBe(false);
  });

  test("says what it cannot read, and then accepts", () => {
    for (const pattern of ["^(?!x)", "(a)\\1", "a{1,2000}", "(", "(?P<n>"]) {
      expect(readPattern(pattern)).toBeUndefined();
      expect(tolerantPattern(pattern).test("anything")).toBe(true);
    }
  });

  test("matches what JavaScript matches", () => {
    const patterns = ["^[\\w.+-]+@[\\w-]+\\.[\\w.]+$", "^\\d{3}-\\d{4}$", "\\u0041/", "^(?<year>\\d+)$", "[^a]", "^\\p{L}+$", "", "a|b$", "^\\S+$", "\\/x"];
    fc.assert(
      fc.property(fc.constantFrom(...patterns), fc.string({ unit: fc.constantFrom("a", "A", "é", "-", ".", "@", "/", "x", "1", "23", " ", "\n") }), (pattern, text) => {
        expect(readPattern(pattern)?.test(text)).toBe(new RegExp(pattern, "u").test(text));
      }),
      { numRuns: 500 },
    );
  });
});
