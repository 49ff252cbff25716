import { describe, expect, test } from "vitest";
import { collectPages } from "./paging.ts";

describe("collectPages", () => {
  test("code-mode 15: follows every nextCursor", async () => {
    const pages: Record<string, { tools: number[]; nextCursor?: string }> = {
      first: { tools: [1], nextCursor: "a" },
      a: { tools: [2, 3], nextCursor: "b" },
      b: { tools: [4] },
    };
    const got = await collectPages((cursor) => Promise.resolve(pages[cursor ?? "first"] ?? { tools: [] }), "tools");
    expect(got).toEqual({ items: [1, 2, 3, 4], problems: [] });
  });

  test("mcp-004: stops at a cursor that comes back, at too many pages and at too many items, and says so", async () => {
    const looping = await collectPages(() => Promise.resolve({ tools: [1], nextCursor: "same" }), "tools");
    expect(looping.items).toEqual([1, 1]);
    expect(looping.problems[0]).toContain("repeats");
    let n = 0;
    const endless = await collectPages(() => Promise.resolve({ tools: [1], nextCursor: String(n++) }), "tools", { maxPages: 7, maxItems: 100 });
    expect(endless.items).toHaveLength(7);
    expect(endless.problems[0]).toContain("7 pages");
    const wide = await collectPages(() => Promise.resolve({ tools: [1, 2, 3], nextCursor: String(n++) }), "tools", { maxPages: 7, maxItems: 4 });
    expect(wide.items).toEqual([1, 2, 3, 1]);
    expect(wide.problems[0]).toContain("more than 4");
  });

  test("keeps earlier pages when a later one is malformed", async () => {
    const got = await collectPages((cursor) => Promise.resolve(cursor === undefined ? { tools: [1], nextCursor: "x" } : { tools: "no" }), "tools");
    expect(got.items).toEqual([1]);
    expect(got.problems).toHaveLength(1);
  });
});
