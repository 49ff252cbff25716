import { describe, expect, test } from "vitest";
import { alignCalls } from "./align-calls.ts";

interface Call {
  readonly tool: string;
  readonly argsDigest: `sha256:${string}`;
}

/** `a1 b2`: a call of `a` with 1, one of `b` with 2. */
const calls = (text: string): readonly Call[] => text.split(" ").filter((word) => word !== "").map((word) => ({ tool: word.slice(0, 1), argsDigest: `sha256:${word.slice(1)}` }));
const shown = ({ tool, argsDigest }: Call): string => `${tool}${argsDigest.slice(7)}`;
const pairs = (ones: string, others: string): readonly string[] => alignCalls(calls(ones), calls(others)).map(([one, other]) => `${one === undefined ? "-" : shown(one)}:${other === undefined ? "-" : shown(other)}`);

describe("calls of two lists", () => {
  test.each([
    ["", "", []],
    ["a1 b2", "a1 b2", ["a1:a1", "b2:b2"]],
    ["a1 a2 a3", "a2 a3", ["a1:-", "a2:a2", "a3:a3"]],
    ["a1 b1", "a2 b1", ["a1:a2", "b1:b1"]],
    ["a1 c1", "a1 b1 c2", ["a1:a1", "-:b1", "c1:c2"]],
    ["a1", "b1", ["a1:-", "-:b1"]],
  ])("%s | %s", (ones, others, expected) => {
    expect(pairs(ones, others)).toEqual(expected);
  });

  test("both orders are kept, and each call is there once, whatever the lists", () => {
    let seed = 7;
    const random = (below: number): number => ((seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below);
    const list = (): readonly Call[] => Array.from({ length: random(12) }, () => ({ tool: "abc".charAt(random(3)), argsDigest: `sha256:${random(3)}` }));
    for (let round = 0; round < 300; round += 1) {
      const [ones, others] = [list(), list()];
      const found = alignCalls(ones, others);
      expect(found.flatMap(([one]) => one ?? [])).toEqual(ones);
      expect(found.flatMap(([, other]) => other ?? [])).toEqual(others);
      for (const [one, other] of found) if (one !== undefined && other !== undefined) expect(one.tool).toBe(other.tool);
    }
  });

  test("of 10,000 writes each, all of them others, every one finds its counterpart by its tool", () => {
    const many = (set: string): readonly Call[] => Array.from({ length: 10_000 }, (_one, index) => ({ tool: "a", argsDigest: `sha256:${set}${index}` }));
    const before = process.memoryUsage().arrayBuffers;
    const found = alignCalls(many("x"), many("y"));
    expect(found.every(([one, other]) => one !== undefined && other !== undefined)).toBe(true);
    expect(found).toHaveLength(10_000);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 * 1024);
  });

  test("lists that have nothing in common, not even tools, are told apart without looking for the best way", () => {
    const many = (tool: string): readonly Call[] => Array.from({ length: 5_000 }, (_one, index) => ({ tool: `${tool}${index}`, argsDigest: "sha256:0" }));
    expect(alignCalls(many("a"), many("b"))).toHaveLength(10_000);
  });
});
