import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nearestNames } from "./nearest-names.ts";

describe("nearestNames", () => {
  const names = ["title", "body", "labels", "list_issues", "get_issue"];

  test("finds the name behind a slip, whatever case and separators", () => {
    for (const slip of ["titel", "titl", "Title", "tittle"]) expect(nearestNames(slip, names)).toEqual(["title"]);
    expect(nearestNames("listIssues", names)[0]).toBe("list_issues");
    expect(nearestNames("issues", names)).toEqual(["list_issues"]);
  });

  test("says nothing when nothing is near", () => {
    expect([nearestNames("zzz", names), nearestNames("", names), nearestNames("a", names), nearestNames("x".repeat(10_000), names)]).toEqual([[], [], [], []]);
  });

  test("has the name itself first, at most as many as asked, always in the same order", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{3,8}$/), { minLength: 1 }), (candidates) => {
        for (const name of candidates) expect(nearestNames(name, candidates)[0]).toBe(name);
        expect(nearestNames(candidates[0] ?? "", candidates, 2).length).toBeLessThanOrEqual(2);
        expect(nearestNames("abcde", candidates)).toEqual(nearestNames("abcde", [...candidates].reverse()));
      }),
    );
  });
});
