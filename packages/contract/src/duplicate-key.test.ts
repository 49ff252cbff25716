import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { duplicateKey } from "./duplicate-key.ts";

describe("duplicateKey", () => {
  test.each([
    ['{"amount":1,"amount":1000}', "/amount"],
    ['{"a":[{},{"b/c":{"x":1,"x":1}}]}', "/a/1/b~1c/x"],
    ['{"a":1,"\\u0061":2}', "/a"],
    ['{"__proto__":1,"__proto__":2}', "/__proto__"],
    ['[0,{"k":"}","k":"{"}]', "/1/k"],
  ])("out-013: finds the key that %s names twice", (json, path) => expect(duplicateKey(json)).toBe(path));

  test("finds none in what an encoder writes, however it is nested or escaped", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => duplicateKey(JSON.stringify(value)) === undefined));
  });
});
