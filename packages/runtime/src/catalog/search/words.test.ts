import { describe, expect, test } from "vitest";
import { words } from "./words.ts";

describe("words", () => {
  test("splits humps, separators and scripts without spaces, makes plurals singular, leaves function words out", () => {
    expect(words("listOpenIssues_v2/HTTPServer")).toEqual(["list", "open", "issue", "v2", "http", "server"]);
    expect(words("Get the user's 3 categories, with addresses")).toEqual(["get", "user", "3", "category", "addresse"]);
    expect(words("必应搜索")).toEqual(["必应", "应搜", "搜索"]);
    expect(words("Straße ÉCOLE")).toEqual(["straße", "école"]);
  });

  test("leaves links out, and reads a text of nothing but their openings once", () => {
    expect(words("see [the page](https://a.example/b_(c)) and [that](local file)")).toEqual(["see", "page"]);
    // Read from every opening to the end, this would take hours.
    expect(words("](".repeat(500_000))).toEqual([]);
  });
});
