import { describe, expect, test } from "vitest";
import { readCallArguments } from "./call-arguments.ts";

describe("readCallArguments", () => {
  test("code-mode 13, out-009: takes an exact large number in the form results show it, and refuses a rounded one", () => {
    expect(readCallArguments({ id: { $bigint: "1234567890123456789" }, list: [{ $bigint: "-1" }] })).toEqual({ kind: "ok", value: { id: 1234567890123456789n, list: [-1n] } });
    expect(readCallArguments(JSON.parse('{"a/b":[1,1234567890123456789]}'))).toEqual({ kind: "inexact", paths: ["/a~1b/1"] });
  });

  test("leaves everything else as it is", () => {
    const sent = JSON.parse('{"x":1.5,"max":9007199254740991,"__proto__":{"y":1},"$bigint":"1","other":{"$bigint":"nope"}}') as unknown;
    expect(readCallArguments(sent)).toEqual({ kind: "ok", value: sent });
  });
});
