import { describe, expect, test } from "vitest";
import { textDiff } from "./text-diff.ts";

describe("the difference of two texts", () => {
  test("is told by lines, with what stands around them and how many there are", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const changed = lines.with(10, "another").toSpliced(19, 1, "line 19", "line 20");
    const diff = textDiff(lines.join("\n"), changed.join("\n"));
    expect(diff).toMatchObject({ addedLines: 2, removedLines: 1 });
    expect(diff?.text.split("\n")).toEqual(["@@ -8,7 +8,7 @@", " line 7", " line 8", " line 9", "-line 10", "+another", " line 11", " line 12", " line 13", "@@ -18,3 +18,4 @@", " line 17", " line 18", " line 19", "+line 20", ""]);
  });

  test.each([
    ["the same", "a\nb", "a\nb"],
    ["a last line that ends", "a\nb", "a\nb\n"],
    ["other ends of lines", "a\r\nb\r\n", "a\nb\n"],
    ["nothing", "", ""],
  ])("is none: %s", (_what, before, after) => {
    expect(textDiff(before, after)).toEqual({ text: "", addedLines: 0, removedLines: 0 });
  });

  test("of texts that begin or end as nothing is all of the other", () => {
    expect(textDiff("", "a\nb")).toMatchObject({ addedLines: 2, removedLines: 0 });
    expect(textDiff("a\nb", "")).toMatchObject({ addedLines: 0, removedLines: 2 });
  });

  test("is given up where hardly a line is the same, and does not hold up the host", () => {
    const text = (word: string): string => Array.from({ length: 2_000 }, (_, index) => `${word} ${index}`).join("\n");
    expect(textDiff(text("one"), text("other"))).toBeUndefined();
  });
});
