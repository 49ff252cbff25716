import { describe, expect, test } from "vitest";
import { sensitiveValues, withoutValues } from "./sensitive-values.ts";

describe("sensitiveValues", () => {
  const value = { card: "4111-1", pin: "12", people: [{ mail: "a@b.c" }, { mail: "ann@x.y" }], nested: { all: { deep: ["one-1", 12345] } }, "a/b": "slash" };

  test("collects texts and numbers at pointers, longest first; a star is every item; a branch is all below it", () => {
    expect(sensitiveValues(value, ["/card", "/people/*/mail"])).toEqual(["ann@x.y", "4111-1", "a@b.c"]);
    expect(sensitiveValues(value, ["/nested"])).toEqual(["one-1", "12345"]);
    expect(sensitiveValues(value, ["/a~1b"])).toEqual(["slash"]);
  });

  test("leaves out what is too short to be told from chance, and what is not there", () => {
    expect(sensitiveValues(value, ["/pin", "/none", "/card/x"])).toEqual([]);
    expect(sensitiveValues(undefined, ["/pin"])).toEqual([]);
  });

  test("is bounded", () => {
    expect(sensitiveValues({ many: Array.from({ length: 9_000 }, (_, index) => `value-${index}`) }, ["/many"])).toHaveLength(200);
  });
});

describe("withoutValues", () => {
  test("hides the values in message and details, keys included", () => {
    const error = { code: "X", tool: "a.b", retryable: false, message: "4111-1 twice 4111-1", details: { "4111-1": ["at 4111-1", 12345, true, null, { n: 1 }] } };
    expect(withoutValues(error, ["4111-1", "12345"])).toEqual({ ...error, message: "[sensitive] twice [sensitive]", details: { "[sensitive]": ["at [sensitive]", "[sensitive]", true, null, { n: 1 }] } });
  });

  test("gives back an error with nothing to hide as it is", () => {
    const error = { code: "X", tool: "a.b", retryable: false, message: "m" };
    expect(withoutValues(error, [])).toBe(error);
    expect(withoutValues(error, ["4111"])).toEqual(error);
  });
});
