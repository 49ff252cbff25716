import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLineSplitter } from "./line-splitter.ts";

describe("createLineSplitter", () => {
  test("gives the same lines however the bytes are cut into chunks", () => {
    const line = fc.stringMatching(/^[a-zé€😀 ]{0,20}$/u).map((text) => text.trimEnd());
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(40)), (texts, cuts) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\r\n`).join(""));
        const splitter = createLineSplitter(1000);
        const found: string[] = [];
        let start = 0;
        for (const cut of [...cuts.map((size) => size + 1), bytes.length]) {
          for (const item of splitter.push(bytes.subarray(start, start + cut))) found.push(item.kind === "line" ? item.text : "?");
          start += cut;
        }
        expect(found).toEqual(texts.filter((text) => text !== ""));
      }),
    );
  });

  test("drops a line over the bound, says its size and both ends, and goes on", () => {
    const splitter = createLineSplitter(100);
    const lines = [`head${"x".repeat(1000)}tail\n`, "next\n"].flatMap((text) => [...splitter.push(Buffer.from(text))]);
    expect(lines).toEqual([
      { kind: "oversized", head: `head${"x".repeat(252)}`, tail: `${"x".repeat(252)}tail`, sizeBytes: 1008 },
      { kind: "line", text: "next" },
    ]);
  });
});
