import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decimalBounds, exactDecimal } from "./decimal.ts";

const units = (text: string): bigint => BigInt(text.replace(".", ""));

describe("decimalBounds", () => {
  test.each<[number | bigint, string, string]>([
    [0, "0.0000", "0.0000"], [-0, "0.0000", "0.0000"], [1.5, "1.5000", "1.5000"], [0.1, "0.1000", "0.1000"], [-2.25, "-2.2500", "-2.2500"],
    [1.00001, "1.0000", "1.0001"], [-1.00001, "-1.0001", "-1.0000"], [1e-300, "0.0000", "0.0001"], [-1e-300, "-0.0001", "0.0000"],
    [2 ** 53, "922337203685477.5807", "922337203685477.5807"],
    [1e30, "922337203685477.5807", "922337203685477.5807"], [-1e308, "-922337203685477.5808", "-922337203685477.5808"], [10n ** 400n, "922337203685477.5807", "922337203685477.5807"],
    [922337203685477, "922337203685477.0000", "922337203685477.0000"],
  ])("puts %s between two decimals", (number, low, high) => expect(decimalBounds(number)).toEqual({ low, high }));

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("has none for %s", (number) => expect(decimalBounds(number)).toBeUndefined());

  test("compares any number with any decimal as arithmetic does", () => {
    const threshold = fc.integer({ min: -10_000_000, max: 10_000_000 }).map((ten) => ten / 10_000);
    const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.double({ min: -2_000, max: 2_000, noNaN: true }), threshold);
    fc.assert(
      fc.property(number, threshold, (x, t) => {
        const bounds = decimalBounds(x);
        const exact = exactDecimal(t);
        if (bounds === undefined || exact.kind === "none") throw new Error("there is one");
        const [low, high, limit] = [units(bounds.low), units(bounds.high), units(exact.text)];
        expect([high > limit, low >= limit, low < limit, high <= limit, low === limit && high === limit]).toEqual([x > t, x >= t, x < t, x <= t, x === t]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("exactDecimal", () => {
  test("refuses what has no decimal, and says what to write", () => {
    expect(exactDecimal(0.00005)).toEqual({ kind: "none", problem: "0.00005 has more than four decimal places; write 0.0000 or 0.0001" });
    expect(exactDecimal(1e20)).toMatchObject({ kind: "none", problem: expect.stringContaining("write a smaller one") as string });
    expect(exactDecimal(Number.NaN)).toMatchObject({ kind: "none" });
  });
});
