import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOutliner, outlineDetails } from "./outline.ts";

const [generous] = outlineDetails;
const outline = (value: unknown): unknown => (generous === undefined ? undefined : createOutliner(value).outline(generous));

describe("createOutliner", () => {
  test("shows columns of rows: types, nulls, ranges, a sample", () => {
    const rows = Array.from({ length: 1_000 }, (_, index) => ({ id: index, price: index === 3 ? 1.5 : index, tag: index % 2 === 0 ? null : "x", nested: { a: [1, 2, index] } }));
    expect(outline(rows)).toMatchObject({
      type: "array",
      length: 1_000,
      columns: { id: { type: "integer", min: 0, max: 999 }, price: { type: "number", min: 0, max: 999 }, tag: { type: "string", nulls: 500, sample: "x" }, nested: { type: "object" } },
      head: expect.arrayContaining([rows[0]]) as unknown[],
      tail: expect.arrayContaining([rows[999]]) as unknown[],
    });
  });

  test("looks at rows spread evenly when there are millions of cells, and says so", () => {
    const rows = Array.from({ length: 400_000 }, (_, index) => ({ a: index, b: 1, c: 2, d: 3, e: 4 }));
    const shown = outline(rows) as { rowsLookedAt: number; columns: Record<string, { max: number }> };
    expect(shown.rowsLookedAt).toBe(200_000);
    expect(shown.columns["a"]?.max).toBeGreaterThan(399_000);
  });

  test("counts the types of a list that has no columns", () => {
    expect(outline([...Array.from({ length: 50 }, (_, index) => index), "a", null, 2.5])).toMatchObject({ type: "array", length: 53, items: { integer: 50, string: 1, null: 1, number: 1 }, min: 0, max: 49 });
  });

  test("shows headings, keywords and openings of prose, size and ends of other text", () => {
    const prose = `# Minutes of the board\n\n${"The board agreed to raise the budget of the harbour project. ".repeat(20)}\n\n## Harbour project\n\n${"Engineers will inspect the harbour wall before winter. ".repeat(20)}`;
    expect(outline(prose)).toMatchObject({ type: "string", chars: prose.length, headings: ["Minutes of the board", "Harbour project"], keywords: expect.arrayContaining(["harbour", "budget"]) as string[] });
    const log = Array.from({ length: 200 }, (_, index) => `{"level":30,"n":${index}}`).join("\n");
    expect(outline(log)).toMatchObject({ type: "string", chars: log.length, lines: 200, head: expect.stringContaining('"n":0') as string, tail: expect.stringContaining('"n":199') as string });
  });

  test("shows keys of objects, and how many are left out", () => {
    const wide = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, "v".repeat(500)]));
    expect(outline(wide)).toMatchObject({ type: "object", size: 100, notShown: 40 });
  });

  test("never carries bytes", () => {
    expect(JSON.stringify(outline({ png: new Uint8Array(5_000_000) }))).toBe('{"png":{"$bytes":{"length":5000000,"head":"0000000000000000"}}}');
  });

  test("is JSON for any value and any detail, and the least is small", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }), fc.constantFrom(...outlineDetails), (value, detail) => {
        const outliner = createOutliner(value);
        const shown = outliner.outline(detail);
        expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
        expect(JSON.stringify(outliner.least).length).toBeLessThan(60);
      }),
    );
  });
});
