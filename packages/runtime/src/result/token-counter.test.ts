import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createLazyTokenCounter, cutToTokens } from "./token-counter.ts";
import type { TokenCounter } from "./token-counter.ts";

describe("createLazyTokenCounter", () => {
  let counter: TokenCounter;
  beforeAll(async () => {
    counter = await createLazyTokenCounter().load();
  });

  test("is the count of o200k for ordinary text", () => {
    const text = 'const rows = await tools.db.query({ sql: "select 1" });\n'.repeat(200);
    expect(counter.count(text)).toBe(countTokens(text));
    fc.assert(fc.property(fc.string({ maxLength: 150 }), (any) => counter.count(any) === countTokens(any, { disallowedSpecial: new Set() })));
  });

  test("is the count of o200k for text of any script, for bytes that are no text, and the same when asked again", () => {
    const bySlices = (any: string): boolean => counter.count(any) === countTokens(any, { disallowedSpecial: new Set() }) && counter.count(any) === counter.count(any);
    fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 150 }).filter((any) => !any.includes("\uFEFF")), bySlices), { numRuns: 500 });
    for (const text of ["日本語のテキストと👩‍👩‍👧‍👦 Ünïcödé здравствуйте", "x\ud800y \udc00", "\r\n\t  0123456789.5e-7", JSON.stringify({ a: "\u0000\u0001" })]) expect(bySlices(text)).toBe(true);
  });

  test("counts what means a special token to a tokenizer as the text it is", () => {
    expect(counter.count("<|endoftext|>")).toBeGreaterThan(1);
  });

  test.each([["letters", "a"], ["ideographs", "漢字仮名交じり文"], ["blanks", " "], ["marks", "=-"], ["emoji", "👩‍👩‍👧‍👦"]])("takes bounded time on long runs of %s, and is at most a little above the true count", (_name, unit) => {
    const part = unit.repeat(Math.ceil(2_000 / unit.length));
    const exact = countTokens(part);
    const counted = counter.count(part);
    expect(counted).toBeGreaterThanOrEqual(exact);
    expect(counted).toBeLessThanOrEqual(exact + part.length / 100 + 2);
    const started = performance.now();
    counter.count(unit.repeat(Math.ceil(400_000 / unit.length)));
    // Without the slices it is the square of the length: minutes.
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test("within gives up as soon as it knows, and agrees with count", () => {
    expect(counter.within("word ".repeat(1_000_000), 100)).toBeUndefined();
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), fc.nat(200), (text, limit) => {
        const count = counter.count(text);
        expect(counter.within(text, limit)).toBe(count <= limit ? count : undefined);
      }),
    );
  });

  test("estimates large text to a few per cent", () => {
    const text = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name ${id}` })));
    const exact = counter.count(text);
    expect(Math.abs(counter.estimate(text) - exact) / exact).toBeLessThan(0.1);
  });

  test("cutToTokens keeps as much as fits, from either end, and no half characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 500 }), fc.nat(60), fc.constantFrom("start" as const, "end" as const), (text, tokens, from) => {
        const cut = cutToTokens(text, tokens, { counter, from });
        expect(counter.count(cut)).toBeLessThanOrEqual(tokens);
        expect(from === "start" ? text.startsWith(cut) : text.endsWith(cut)).toBe(true);
        expect(cut.isWellFormed()).toBe(text.isWellFormed());
        if (counter.count(text) <= tokens) expect(cut).toBe(text);
      }),
    );
  });
});
