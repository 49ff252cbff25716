import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOriginIndex } from "./origin-index.ts";

function origins(answers: readonly unknown[], args: unknown, program = ""): readonly unknown[] {
  const index = createOriginIndex(program);
  for (const [seq, answer] of answers.entries()) index.add({ kind: "result", seq, tool: "t.read" }, answer);
  return index.origins(args).map(({ path, origins: found }) => [path, ...found.map(({ seq, path: from, how, kind }) => (kind === "program" ? "program" : `#${seq}${from} ${how}`))]);
}

describe("where a value was seen before", () => {
  test.each<[string, unknown, unknown, readonly unknown[]]>([
    ["itself", { mail: "ann@a.example" }, { to: "ann@a.example" }, ["/to", "#0/mail same"]],
    ["a number, and one that is text here", { total: 625949, id: "40718" }, [625949, 40718, "625949"], ["/0", "#0/total same"]],
    ["a part of a longer text", "Order 40718-B was sent", { order: "40718-B" }, ["/order", "#0 part"]],
    ["among other text", { name: "Northwind Logistics" }, { body: "Dear Northwind Logistics, hello" }, ["/body", "#0/name holds"]],
    ["encoded as base64", { iban: "DE02120300000000202051" }, { q: Buffer.from("DE02120300000000202051").toString("base64") }, ["/q", "#0/iban decoded"]],
    ["encoded in a URL", { name: "Ann & Söhne" }, { url: `https://x.example/?q=${encodeURIComponent("Ann & Söhne")}` }, ["/url", "#0/name decoded"]],
    ["in a map, a set and a date", new Map([["k", new Set([new Date(0)])]]), ["1970-01-01T00:00:00.000Z"], ["/0", "#0/0/0 same"]],
    ["below keys with slashes", { "a/b": { "c~d": "a telling text" } }, { x: "a telling text" }, ["/x", "#0/a~1b/c~0d same"]],
  ])("%s", (_name, answer, args, first) => expect(origins([answer], args)[0]).toEqual(first));

  test("the latest answer comes first, and no more than eight are named", () => {
    const found = origins(Array.from({ length: 12 }, () => "the same everywhere"), "the same everywhere")[0] as readonly string[];
    expect(found.slice(1)).toEqual([11, 10, 9, 8, 7, 6, 5, 4].map((seq) => `#${seq} same`));
  });

  test("what is everywhere by chance has no origin, and what the program says is its own", () => {
    expect(origins([{ n: 7, ok: true, empty: "", short: "EU", none: null }], [7, true, "", "EU", null])).toEqual([["/0"], ["/2"], ["/3"]]);
    expect(origins([], { stage: "proposal", note: "see the minutes" }, 'update({ stage: "proposal", note: "see the minutes" })')).toEqual([["/stage", "program"], ["/note", "program"]]);
    // Both: a person sees that an answer has it as well.
    expect(origins(["proposal"], { stage: "proposal" }, '"proposal"')).toEqual([["/stage", "#0 same", "program"]]);
  });

  test("of two texts at one place the longer counts", () => {
    expect(origins(["Northwind", "Northwind Logistics"], "to Northwind Logistics now")).toEqual([["", "#1 holds"]]);
  });

  test("large answers and arguments cost bounded time and are said to be looked at in part", () => {
    const index = createOriginIndex("");
    index.add({ kind: "result", seq: 0, tool: "t.read" }, Array.from({ length: 100_000 }, (_, n) => `row number ${n}`));
    expect(index.isPartial).toBe(true);
    expect(index.origins("row number 17")[0]?.origins).toHaveLength(1);
    expect(index.origins("x".repeat(1_000_000))).toEqual([]);
  });

  test("property: every text of an answer is found again, however it is nested, and nothing is found that is not there", () => {
    const value = fc.letrec((tie) => ({ any: fc.oneof({ depthSize: "small" }, fc.string({ minLength: 6, maxLength: 30, unit: "binary" }), fc.array(tie("any"), { maxLength: 4 }), fc.dictionary(fc.string(), tie("any"), { maxKeys: 4 })) })).any;
    fc.assert(fc.property(value, fc.string({ minLength: 6, maxLength: 20 }), (answer, other) => {
      const index = createOriginIndex("");
      index.add({ kind: "result", seq: 0, tool: "t.read" }, answer);
      const texts: string[] = [];
      JSON.stringify(answer, (_key, at: unknown) => { if (typeof at === "string") texts.push(at); return at; });
      for (const text of texts.filter((one) => one.trim().length >= 3)) expect(index.origins({ a: [text] })[0]?.origins.map(({ how }) => how)).toContain("same");
      if (texts.every((text) => !text.includes(other) && !other.includes(text))) expect(index.origins(other)[0]?.origins.filter(({ how }) => how !== "decoded")).toEqual([]);
    }));
  });

  test("hostile values do no harm: cycles, deep nesting", () => {
    const cycle: { self?: unknown; name: string } = { name: "a telling name" };
    cycle.self = cycle;
    let deep: unknown = "at the bottom";
    for (let n = 0; n < 10_000; n += 1) deep = [deep];
    const index = createOriginIndex("");
    index.add({ kind: "result", seq: 0, tool: "t.read" }, [cycle, deep]);
    expect(index.origins({ name: "a telling name" })[0]?.origins).toHaveLength(1);
    expect(index.isPartial).toBe(true);
  });
});
